// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What `kvw estimate`, `kvw explain` and `kvw predict` say of the examples is the same number in the window, in the PDF
// and in the Markdown report. The JSON is walked; what one of them leaves out is in a list here, with its reason.

#include "report_fixtures.h"

#include "explain/explainpanel.h"
#include "models/roles.h"
#include "prediction/predictionrunner.h"
#include "report/json_output.h"
#include "shell/mainwindow.h"
#include "shell/page.h"

#include <nlohmann/json.hpp>

#include <QAbstractItemView>
#include <QLabel>
#include <QLocale>
#include <QRegularExpression>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include <map>
#include <memory>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

constexpr int patience = 120'000;

/// A number of the command line, and what the window calls it.
struct ToolFigure
{
    QString path; ///< for Explain
    QString value; ///< as the JSON has it
    QString pattern; ///< the path with "*" for ids and numbers
};

/// Figures that one of the three does not show, and why.
struct LeftOut
{
    const char* pattern;
    const char* reason;
};

const LeftOut notInTheWindow[] {
    {"poolFraction", "1 for a prediction: it is of the whole pool"},
    {"layout.*", "what the run is given: the worksheet's and the engine's own figures, compared as those"},
    {"prediction.samples.*", "a sample of each step: a plot, whose numbers are the block map's counts"},
    {"ranks.*.rank", "the number of the rank, not a figure of it"},
    {"prediction.requests.*.id", "the number of the request, not a figure of it"},
};

const LeftOut notInTheReport[] {
    {"poolFraction", "printed with four decimals"},
    {"layout.pools.*.blockBytes", "rounded beside the pool's blocks; exact in the engine section, where there is one"},
    {"layout.*.domain", "a number that names a sharding domain inside a run"},
    {"layout.*.pool", "a number that names a pool inside a run"},
    {"prediction.samples.*", "a sample of each step: the figure of blocks over steps"},
    {"prediction.requests.*", "one request: the report has totals, tenants and distributions"},
    {"ranks.*.rank", "the number of the rank, not a figure of it"},
    {"ranks.*.groups.*.fixedBytesPerSequence", "the report's rank columns are bytes per token"},
    {"prediction.tenants.*.missCauses.none", "no miss at all: the rest of the table's row"},
    {"prediction.tenants.*.neverComputed", "of completed requests: the evidence compares it, the table has all hits"},
    {"prediction.appendedBytes", "only compared with a live run: the evidence section has it then"},
    {"prediction.computedTokens", "only compared with a live run: the evidence section has it then"},
    {"prediction.readBackEntries", "only compared with a live run: the evidence section has it then"},
};

template <std::size_t size>
bool isIn(const LeftOut (&list)[size], const QString& pattern)
{
    return std::any_of(std::begin(list), std::end(list), [&](const LeftOut& one) {
        const QString wanted = QRegularExpression::escape(QLatin1String(one.pattern))
                                   .replace(QStringLiteral("\\*"), QStringLiteral(".*"));
        return QRegularExpression(QRegularExpression::anchoredPattern(wanted)).match(pattern).hasMatch();
    });
}

/// "12,345.50" as "12345.5"; words and units go.
QString plain(QString text)
{
    text.replace(QChar(0x2212), QLatin1Char('-'));
    text.remove(QRegularExpression(QStringLiteral("[^0-9.e+-]")));
    return text;
}

bool isSame(const QString& json, const QString& shown)
{
    bool first = false;
    bool second = false;
    const double a = json.toDouble(&first);
    const double b = plain(shown).toDouble(&second);
    return first && second && a == b;
}

/// A step that never came: −1 in the JSON, a dash everywhere else.
bool isNever(const ToolFigure& figure)
{
    return figure.value == QStringLiteral("-1") && figure.pattern.endsWith(QStringLiteral("Step"));
}

/// Walks a document of the command line. Elements of lists go by their id, where they have one.
class Walk
{
public:
    explicit Walk(const OrderedJson& whole) { visit(whole, {}, {}); }
    std::vector<ToolFigure> figures;

private:
    static QString idOf(const OrderedJson& element, qsizetype number)
    {
        for (const char* key : {"id", "strategy"}) {
            if (element.is_object() && element.contains(key) && element.at(key).is_string())
                return QString::fromStdString(element.at(key).get<std::string>());
        }
        return QString::number(number);
    }

    void visit(const OrderedJson& json, const QString& path, const QString& pattern)
    {
        const auto below = [](const QString& base, const QString& name) {
            return base.isEmpty() ? name : base + QLatin1Char('.') + name;
        };
        if (json.is_object()) {
            for (const auto& [key, value] : json.items()) {
                const QString name = QString::fromStdString(key);
                visit(value, below(path, name), below(pattern, name));
            }
        } else if (json.is_array()) {
            qsizetype number = 0;
            for (const OrderedJson& element : json) {
                QString id = idOf(element, number++);
                if (path.startsWith(QStringLiteral("ranks.")) && path.endsWith(QStringLiteral(".groups")))
                    id = m_groups.value(number - 1);
                if (path == QStringLiteral("groups"))
                    m_groups.push_back(id);
                visit(element, below(path, id), below(pattern, QStringLiteral("*")));
            }
        } else if (json.is_number()) {
            figures.push_back({named(path), QString::fromStdString(json.dump()), pattern});
        }
    }

    /// What the window calls it: figures of the estimate keep their paths, fields of the plan are those of the plan.
    QString named(QString path) const
    {
        static const QRegularExpression field(
            QStringLiteral("^groups\\.([^.]+)(\\.tensors\\.[^.]+)?\\.(layers|heads|width)$"));
        if (field.match(path).hasMatch())
            return QStringLiteral("plan.worksheet.") + path;
        path.replace(QStringLiteral("engine.differences."), QStringLiteral("differences."));
        for (const auto& [json, window] :
            {std::pair {"paged_pool", "pagedPool"}, std::pair {"static_contiguous", "staticContiguous"},
                std::pair {"growing_contiguous", "growingContiguous"}})
            path.replace(QLatin1String(json), QLatin1String(window));
        if (path.startsWith(QStringLiteral("differences.")) || path.startsWith(QStringLiteral("strategies.")))
            path.remove(QRegularExpression(QStringLiteral("\\.bytes$")));
        return path;
    }

    QStringList m_groups;
};

} // namespace

class SameNumbersTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void estimate_data() { plans(); }
    void estimate();
    void predict_data() { plans(); }
    void predict();
    void explain_data() { plans(); }
    void explain();
    void nothingIsLeftOutForLong();

private:
    void plans();
    void open(const QString& plan);
    void compare(const std::vector<ToolFigure>& figures);
    OrderedJson command(const QStringList& arguments) const;
    QString textOf(const char* name) const;

    QTemporaryDir m_folder;
    QString m_plan;
    std::unique_ptr<MainWindow> m_window;
    std::map<QString, QString> m_cells; ///< what the window's tables show, by the path that it opens
    QSet<QString> m_pdf;
    QSet<QString> m_markdown;
    int m_compared = 0;
};

void SameNumbersTest::initTestCase()
{
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_BINARY"), "the program kvw is not built");
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_WORKBENCH"), "the workbench is not built");
}

void SameNumbersTest::plans()
{
    QTest::addColumn<QString>("plan");
    for (const std::string& path : examplePaths())
        QTest::newRow(path.substr(path.rfind('/') + 1).c_str()) << QString::fromStdString(path);
}

OrderedJson SameNumbersTest::command(const QStringList& arguments) const
{
    const QByteArray out = outputOf(qEnvironmentVariable("KVW_BINARY"), arguments);
    return OrderedJson::parse(out.toStdString(), nullptr, false);
}

/// The window on the plan, with a prediction; what its tables show; the report in both forms.
void SameNumbersTest::open(const QString& plan)
{
    if (m_plan == plan)
        return;
    m_plan = plan;
    m_cells.clear();
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1280, 720);
    m_window->show();
    QVERIFY(m_window->openPath(plan));
    auto* runner = m_window->findChild<PredictionRunner*>();
    QSignalSpy finished(runner, &PredictionRunner::finished);
    runner->start();
    QVERIFY(finished.wait(patience));
    QVERIFY(m_window->document().prediction());

    const std::function<void(const QAbstractItemModel*, const QModelIndex&)> collect
        = [&](const QAbstractItemModel* model, const QModelIndex& parent) {
              for (int row = 0; row < model->rowCount(parent); ++row) {
                  for (int column = 0; column < model->columnCount(parent); ++column) {
                      const QModelIndex cell = model->index(row, column, parent);
                      const QString figure = cell.data(FigureRole).toString();
                      const QString raw = cell.data(RawRole).toString();
                      if (!figure.isEmpty() && cell.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight)
                          m_cells[figure] = raw.isEmpty() ? cell.data(ExactRole).toString() : raw;
                  }
                  collect(model, model->index(row, 0, parent));
              }
          };
    for (const QString& id : m_window->pageIds()) {
        m_window->showPage(id);
        QTest::qWait(20);
        for (const QAbstractItemView* view : m_window->page(id)->findChildren<QAbstractItemView*>()) {
            if (view->model())
                collect(view->model(), {});
        }
    }
    const QString pdf = m_folder.filePath(QStringLiteral("out.pdf"));
    QProcess process;
    process.start(qEnvironmentVariable("KVW_WORKBENCH"), {QStringLiteral("--export"), pdf, plan});
    QVERIFY(process.waitForFinished(patience));
    QCOMPARE(process.exitCode(), 0);
    m_pdf = numbersOf(QString::fromUtf8(
        outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-layout"), pdf, QStringLiteral("-")})));
    m_markdown
        = numbersOf(QString::fromUtf8(outputOf(qEnvironmentVariable("KVW_BINARY"), {QStringLiteral("report"), plan})));
    QVERIFY(m_pdf.size() > 100);
    QVERIFY(m_markdown.size() > 100);
}

QString SameNumbersTest::textOf(const char* name) const
{
    return m_window->explain()->findChild<QWidget*>(QLatin1String(name))->property("text").toString();
}

void SameNumbersTest::compare(const std::vector<ToolFigure>& figures)
{
    m_compared = 0;
    QStringList wrong;
    for (const ToolFigure& figure : figures) {
        if (!isIn(notInTheWindow, figure.pattern)) {
            // Explain opens it by its path, and shows the exact value first.
            m_window->explain()->showFigure(figure.path);
            const QString value = textOf("explainValue").section(QStringLiteral("  "), 0, 0);
            if (isNever(figure) && value == QStringLiteral("–"))
                continue;
            if (!isSame(figure.value, value.section(QLatin1Char(' '), 0, 0)))
                wrong.push_back(figure.path + QStringLiteral(" is ") + figure.value + QStringLiteral(", Explain has ")
                    + textOf("explainTitle") + QStringLiteral(": ") + value);
            // So does a table, where one has it.
            const auto cell = m_cells.find(figure.path);
            if (cell != m_cells.end() && !isSame(figure.value, cell->second.section(QLatin1Char(' '), 0, 0)))
                wrong.push_back(figure.path + QStringLiteral(" is ") + figure.value + QStringLiteral(", a table has ")
                    + cell->second);
            m_compared += cell != m_cells.end() ? 1 : 0;
        }
        if (isIn(notInTheReport, figure.pattern))
            continue;
        QString number = figure.value;
        number.remove(QLatin1Char('-')).remove(QRegularExpression(QStringLiteral("\\.0$")));
        for (const auto& [shown, where] : {std::pair {&m_pdf, "PDF"}, std::pair {&m_markdown, "Markdown report"}}) {
            if (!shown->contains(number))
                wrong.push_back(figure.path + QStringLiteral(" = ") + figure.value + QStringLiteral(" is not in the ")
                    + QLatin1String(where));
        }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(QLatin1Char('\n') + wrong.join(QLatin1Char('\n')).left(4000)));
}

void SameNumbersTest::estimate()
{
    QFETCH(QString, plan);
    open(plan);
    std::vector<ToolFigure> figures
        = Walk(command({QStringLiteral("estimate"), plan, QStringLiteral("--json")})).figures;
    QVERIFY(figures.size() > 20);
    // A window is a limit of its tensors, and stands in their cells.
    std::erase_if(figures, [](const ToolFigure& one) { return one.path.endsWith(QStringLiteral(".retentionLimit")); });
    compare(figures);
    QVERIFY2(m_compared >= 10, qPrintable(QString::number(m_compared)));
}

void SameNumbersTest::predict()
{
    QFETCH(QString, plan);
    open(plan);
    const std::vector<ToolFigure> figures
        = Walk(command({QStringLiteral("predict"), plan, QStringLiteral("--json")})).figures;
    QVERIFY(figures.size() > 500);
    compare(figures);
    QVERIFY2(m_compared > 300, qPrintable(QString::number(m_compared)));
}

void SameNumbersTest::explain()
{
    QFETCH(QString, plan);
    open(plan);
    const OrderedJson all = command({QStringLiteral("explain"), plan, QStringLiteral("--json")});
    QVERIFY(all.is_object() && all.size() > 10);
    auto* tree = m_window->explain()->findChild<QTreeWidget*>();
    for (const auto& [name, wanted] : all.items()) {
        const QString path = QString::fromStdString(name);
        m_window->explain()->showFigure(path);
        QCOMPARE(textOf("explainTitle"), QString::fromStdString(wanted.at("name").get<std::string>()));
        QVERIFY2(isSame(QString::fromStdString(wanted.at("value").dump()),
                     textOf("explainValue").section(QLatin1Char(' '), 0, 0)),
            qPrintable(path));
        if (!wanted.contains("formula"))
            continue; // an input: it has a source, no formula
        QCOMPARE(textOf("explainFormula"),
            QString::fromStdString(
                wanted.at("formula").get<std::string>() + '\n' + wanted.at("numbers").get<std::string>()));
        const auto items = [&] {
            int count = 0;
            for (QTreeWidgetItemIterator item(tree); *item; ++item)
                ++count;
            return count;
        };
        for (int before = -1; before != items();) {
            before = items();
            tree->expandAll();
            QCoreApplication::processEvents();
        }
        QSet<QString> shown;
        for (QTreeWidgetItemIterator item(tree); *item; ++item)
            shown.insert((*item)->text(0).mid(2) + QLatin1Char('=') + plain((*item)->text(1)));
        const std::function<void(const OrderedJson&)> visit = [&, &wanted = wanted](const OrderedJson& node) {
            const QString input = QString::fromStdString(node.at("name").get<std::string>());
            if (&node != &wanted && !input.isEmpty() && node.at("value").is_number_integer())
                QVERIFY2(shown.contains(input + QLatin1Char('=') + QString::fromStdString(node.at("value").dump())),
                    qPrintable(path + QStringLiteral(": ") + input));
            if (node.contains("operands")) {
                for (const OrderedJson& operand : node.at("operands"))
                    visit(operand);
            }
        };
        visit(wanted);
    }
}

/// Each entry of the lists still leaves something out: what is shown by now does not stay excused.
void SameNumbersTest::nothingIsLeftOutForLong()
{
    QSet<QString> patterns;
    for (const std::string& path : examplePaths()) {
        for (const char* verb : {"estimate", "predict"}) {
            for (const ToolFigure& figure :
                Walk(command({QLatin1String(verb), QString::fromStdString(path), QStringLiteral("--json")})).figures)
                patterns.insert(figure.pattern);
        }
    }
    const auto isUsed = [&](const LeftOut& one) {
        const LeftOut alone[] {one};
        return std::any_of(
            patterns.begin(), patterns.end(), [&](const QString& pattern) { return isIn(alone, pattern); });
    };
    for (const LeftOut& one : notInTheWindow)
        QVERIFY2(isUsed(one), one.pattern);
    for (const LeftOut& one : notInTheReport)
        QVERIFY2(isUsed(one), one.pattern);
}

QTEST_MAIN(SameNumbersTest)
#include "tst_same_numbers.moc"
