// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report_fixtures.h"

#include "report/pagelayout.h"
#include "report/reportsource.h"

#include <QTest>

#include <cmath>
#include <map>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

/// The ink of a line of text: from the top of its small letters to the baseline.
QRectF inkOf(const TextOp& text, const ReportFonts& fonts)
{
    const double height = fonts.ascent(text.style) * 0.5;
    return {text.baseline.x(), text.baseline.y() - height, text.width, height};
}

QString at(std::size_t sheet, const TextOp& text)
{
    return QStringLiteral("sheet %1: \"%2\"").arg(sheet + 1).arg(text.text);
}

} // namespace

/// Properties of every page, whatever is on it.
class ReportLayoutTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void pages_data();
    void pages();
    void tableHeadsRepeat();
    void rowsAreNotSplit();
    void wrapping();
    void longNamesBreakAtTheirSigns();
    void smallTablesStayWhole();
    void cachedIsDiagonal();
    void digestsAreMonospaced();
    void mergedCellIsWrittenOnce();

private:
    std::optional<ReportFonts> m_fonts;
    std::map<QString, Document> m_documents;
};

void ReportLayoutTest::initTestCase()
{
    Result<ReportFonts> fonts = ReportFonts::find();
    QVERIFY2(fonts, fonts ? "" : fonts.error().text().c_str());
    m_fonts = std::move(*fonts);
    QVERIFY(!m_fonts->family().isEmpty());
    for (const std::string& path : examplePaths())
        m_documents[QString::fromStdString(path.substr(path.rfind('/') + 1))]
            = reportOf(sourceOf(loadPlan(path).value()));
    ReportSource straining;
    straining.plan = strainingPlan(40);
    straining.predictionError = "it was not asked for.";
    m_documents[QStringLiteral("40 groups")] = reportOf(straining);
    ReportSource empty;
    m_documents[QStringLiteral("empty")] = reportOf(empty);
}

void ReportLayoutTest::pages_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("letter");
    for (const auto& [name, document] : m_documents) {
        QTest::newRow(qPrintable(name + QStringLiteral(", A4"))) << name << false;
        QTest::newRow(qPrintable(name + QStringLiteral(", Letter"))) << name << true;
    }
}

void ReportLayoutTest::pages()
{
    QFETCH(QString, name);
    QFETCH(bool, letter);
    const PageGeometry page(letter ? Paper::Letter : Paper::A4);
    const std::vector<ReportSheet> sheets
        = layOutReport(m_documents.at(name), letter ? Paper::Letter : Paper::A4, *m_fonts);
    QVERIFY(sheets.size() >= 2);
    QVERIFY(sheets.front().cover);
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        std::vector<const TextOp*> texts;
        for (const PageOp& op : sheets[i].ops) {
            if (const auto* text = std::get_if<TextOp>(&op))
                texts.push_back(text);
        }
        double lowest = 0;
        for (const TextOp* text : texts) {
            QVERIFY2(text->baseline.x() >= page.left - points(1), qPrintable(at(i, *text)));
            QVERIFY2(text->baseline.x() + text->width <= page.right + points(1), qPrintable(at(i, *text)));
            QVERIFY2(text->baseline.y() < page.height - millimetres(8), qPrintable(at(i, *text)));
            if (text->baseline.y() < page.bottom)
                lowest = std::max(lowest, text->baseline.y());
        }
        for (std::size_t a = 0; a < texts.size(); ++a) {
            for (std::size_t b = a + 1; b < texts.size(); ++b) {
                QVERIFY2(!inkOf(*texts[a], *m_fonts).intersects(inkOf(*texts[b], *m_fonts)),
                    qPrintable(at(i, *texts[a]) + QStringLiteral(" and ") + texts[b]->text));
            }
        }
        for (const TextOp* text : texts) {
            if (text->style == TextStyle::Section || text->style == TextStyle::SubSection)
                QVERIFY2(text->baseline.y() < lowest, qPrintable(at(i, *text) + QStringLiteral(" is left alone")));
        }
        const QString number = QStringLiteral("%1 of %2").arg(i + 1).arg(sheets.size());
        QVERIFY(std::any_of(texts.begin(), texts.end(), [&](const TextOp* text) { return text->text == number; }));
    }
}

void ReportLayoutTest::tableHeadsRepeat()
{
    Document document;
    document.title = "T";
    Table table;
    table.columns = {{"First"}, {"Second", true}};
    for (int i = 0; i < 300; ++i)
        table.rows.push_back({"row " + std::to_string(i), std::to_string(i)});
    document.sections.push_back({"s", "Section", {table}, {}});
    const std::vector<ReportSheet> sheets = layOutReport(document, Paper::A4, *m_fonts);
    QVERIFY(sheets.size() >= 5);
    int rows = 0;
    for (std::size_t i = 1; i < sheets.size(); ++i) {
        int heads = 0;
        for (const PageOp& op : sheets[i].ops) {
            const auto* text = std::get_if<TextOp>(&op);
            heads += text && text->text == QLatin1String("First") ? 1 : 0;
            rows += text && text->text.startsWith(QLatin1String("row ")) ? 1 : 0;
        }
        QCOMPARE(heads, 1);
        QCOMPARE(sheets[i].section, QStringLiteral("Section"));
    }
    QCOMPARE(rows, 300);
}

void ReportLayoutTest::rowsAreNotSplit()
{
    // Every row has a mark at its start and one at its end, many lines apart: both must be on one sheet.
    Document document;
    document.title = "T";
    Table table;
    table.columns = {{"No."}, {"Text"}};
    for (int i = 0; i < 60; ++i) {
        std::string text = "begin" + std::to_string(i);
        for (int word = 0; word < 30 + 7 * i % 160; ++word)
            text += " several words";
        table.rows.push_back({std::to_string(i), text + " end" + std::to_string(i)});
    }
    document.sections.push_back({"s", "Section", {table}, {}});
    std::map<QString, std::size_t> begins;
    std::map<QString, std::size_t> ends;
    const std::vector<ReportSheet> sheets = layOutReport(document, Paper::A4, *m_fonts);
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        for (const PageOp& op : sheets[i].ops) {
            const auto* text = std::get_if<TextOp>(&op);
            if (!text)
                continue;
            for (const QString& word : text->text.split(QLatin1Char(' '))) {
                if (word.startsWith(QLatin1String("begin")))
                    begins[word.mid(5)] = i;
                if (word.startsWith(QLatin1String("end")))
                    ends[word.mid(3)] = i;
            }
        }
    }
    QCOMPARE(begins.size(), std::size_t {60});
    QCOMPARE(begins, ends);
}

void ReportLayoutTest::wrapping()
{
    const double width = points(60);
    const QString text = QStringLiteral("one two  three\nfour averyveryverylongwordthatdoesnotfitonaline five");
    const QStringList lines = wrapText(text, TextStyle::Body, width, *m_fonts);
    QString joined;
    for (const QString& line : lines) {
        QVERIFY2(m_fonts->width(line, TextStyle::Body) <= width + 1, qPrintable(line));
        joined += line;
    }
    QString plain = text;
    plain.remove(QLatin1Char('\n'));
    QCOMPARE(joined.remove(QLatin1Char(' ')), plain.remove(QLatin1Char(' ')));
    QCOMPARE(wrapText(QString(), TextStyle::Body, width, *m_fonts).size(), 1);
}

void ReportLayoutTest::longNamesBreakAtTheirSigns()
{
    const double width = m_fonts->width(QStringLiteral("max_memory_usa"), TextStyle::Cell);
    const QStringList lines = wrapText(QStringLiteral("max_memory_usage_bytes"), TextStyle::Cell, width, *m_fonts);
    QCOMPARE(lines, (QStringList {QStringLiteral("max_memory_"), QStringLiteral("usage_bytes")}));
}

/// Wherever it comes to lie, a table of few rows, names and values, and their captions are on one sheet.
void ReportLayoutTest::smallTablesStayWhole()
{
    for (int lines = 40; lines < 60; ++lines) {
        Document document;
        document.title = "T";
        Section section {"s", "Section", {}, {}};
        for (int i = 0; i < lines; ++i)
            section.blocks.emplace_back(Bullets {{"filler"}});
        Table table;
        table.columns = {{"Head"}, {"Value", true}};
        for (int i = 0; i < 6; ++i)
            table.rows.push_back({"row", "1"});
        table.caption = "rows above";
        Facts facts;
        for (int i = 0; i < 12; ++i)
            facts.rows.emplace_back("fact", "value");
        facts.caption = "facts above";
        section.blocks.emplace_back(Paragraph {"lead to the table"});
        section.blocks.emplace_back(std::move(table));
        section.blocks.emplace_back(std::move(facts));
        document.sections.push_back(std::move(section));
        std::map<QString, std::map<std::size_t, int>> found; // word, sheet, how often
        const std::vector<ReportSheet> sheets = layOutReport(document, Paper::A4, *m_fonts);
        for (std::size_t i = 0; i < sheets.size(); ++i) {
            for (const PageOp& op : sheets[i].ops) {
                if (const auto* text = std::get_if<TextOp>(&op))
                    ++found[text->text.section(QLatin1Char('.'), -1).trimmed()][i];
            }
        }
        for (const auto& [word, count] :
            {std::pair {"row", 6}, {"rows above", 1}, {"lead to the table", 1}, {"fact", 12}, {"facts above", 1}}) {
            const auto& places = found[QLatin1String(word)];
            QCOMPARE(places.size(), std::size_t {1});
            QCOMPARE(places.begin()->second, count);
        }
        QCOMPARE(found[QStringLiteral("row")].begin()->first, found[QStringLiteral("rows above")].begin()->first);
        QCOMPARE(
            found[QStringLiteral("row")].begin()->first, found[QStringLiteral("lead to the table")].begin()->first);
        QCOMPARE(found[QStringLiteral("fact")].begin()->first, found[QStringLiteral("facts above")].begin()->first);
    }
}

/// Cached has lines at 45 degrees everywhere; they stay inside its area, a rectangle here.
void ReportLayoutTest::cachedIsDiagonal()
{
    Document document;
    document.title = "T";
    Figure figure {"f", "Blocks", "step", "blocks", {}};
    Figure::Series active {"active", {}};
    Figure::Series cached {"cached", {}};
    for (int step = 0; step <= 100; ++step) {
        active.points.emplace_back(step, 0);
        cached.points.emplace_back(step, 50);
    }
    figure.series = {active, cached};
    document.sections.push_back({"s", "Section", {figure}, {}});
    int lines = 0;
    for (const ReportSheet& sheet : layOutReport(document, Paper::A4, *m_fonts)) {
        const QPolygonF* area = nullptr;
        for (const PageOp& op : sheet.ops) {
            if (const auto* polygon = std::get_if<PolygonOp>(&op))
                area = &polygon->polygon;
        }
        for (const PageOp& op : sheet.ops) {
            const auto* line = std::get_if<LineOp>(&op);
            if (!line || !area || line->width != points(0.4))
                continue;
            ++lines;
            QVERIFY(std::abs(line->line.dx() + line->line.dy()) < 1);
            const QRectF inside = area->boundingRect().adjusted(-1, -1, 1, 1);
            QVERIFY(inside.contains(line->line.p1()) && inside.contains(line->line.p2()));
        }
    }
    QVERIFY2(lines > 50, "the area has no pattern");
}

void ReportLayoutTest::digestsAreMonospaced()
{
    const QString digest = QStringLiteral("f98b21c404b74361395509f31e1f3f8ed06394f190f77f705f93b729b99276bb");
    Document document;
    document.title = "T";
    Facts facts {{{"Plan", "SHA-256 " + digest.toStdString()}, {"Bytes", "294742130688"}}};
    document.sections.push_back({"s", "Section", {facts}, {}});
    std::map<QString, TextStyle> styles;
    for (const ReportSheet& sheet : layOutReport(document, Paper::A4, *m_fonts)) {
        for (const PageOp& op : sheet.ops) {
            if (const auto* text = std::get_if<TextOp>(&op))
                styles[text->text] = text->style;
        }
    }
    QVERIFY(styles.at(digest) == TextStyle::Mono);
    QVERIFY(styles.at(QStringLiteral("SHA-256")) == TextStyle::Cell);
    QVERIFY2(styles.at(QStringLiteral("294742130688")) == TextStyle::Cell, "a number is no digest");
}

void ReportLayoutTest::mergedCellIsWrittenOnce()
{
    Document document;
    document.title = "T";
    Table table;
    table.columns = {{"Group"}, {"Bytes", true}, {"By rank"}};
    const std::string merged = "no sharding rule chosen";
    table.columns.back().merged = merged;
    table.rows = {{"a", "1", merged}, {"b", "2", merged}, {"c", "3", merged}, {"Total", "6", merged}};
    table.lastRowIsTotal = true;
    document.sections.push_back({"s", "Section", {table}, {}});
    QStringList words;
    for (const ReportSheet& sheet : layOutReport(document, Paper::A4, *m_fonts)) {
        for (const PageOp& op : sheet.ops) {
            if (const auto* text = std::get_if<TextOp>(&op))
                words += text->text.split(QLatin1Char(' '));
        }
    }
    QCOMPARE(words.count(QStringLiteral("sharding")), 1);
    QCOMPARE(words.count(QStringLiteral("chosen")), 1);
}

QTEST_MAIN(ReportLayoutTest)
#include "tst_report_layout.moc"
