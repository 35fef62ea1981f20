// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/pagelayout.h"

#include "models/numbertext.h"
#include "report/coverlayout.h"
#include "report/figurelayout.h"
#include "report/formulalayout.h"
#include "report/layoutstyle.h"
#include "report/tablelayout.h"

namespace kvw::gui {

namespace {

/// The blocks of one section, with its tables and figures numbered.
class SectionLayout
{
public:
    SectionLayout(Flow& flow, const Section& section, const QString& number, double width, const ReportFonts& fonts)
        : m_flow(flow)
        , m_section(section)
        , m_number(number)
        , m_width(width)
        , m_fonts(fonts)
    {}

    void add()
    {
        if (!m_number.isEmpty())
            heading();
        std::vector<const Formula*> formulas;
        for (const ReportBlock& block : m_section.blocks) {
            if (const auto* formula = std::get_if<Formula>(&block)) {
                formulas.push_back(formula);
                continue;
            }
            flush(formulas);
            // A sentence is not parted from what it leads to.
            if (m_afterText && !std::holds_alternative<Paragraph>(block))
                m_flow.keepLastWithNext();
            m_afterText = std::holds_alternative<Paragraph>(block);
            std::visit(*this, block);
        }
        flush(formulas);
        if (!m_section.conclusion.empty())
            conclusion();
    }

    void operator()(const Paragraph& paragraph)
    {
        const double indent = paragraph.emphasis ? points(9) : 0;
        text(fromStd(paragraph.text), indent, paragraph.emphasis ? paperTokens().assumed : QColor(), {});
    }

    void operator()(const Bullets& bullets)
    {
        for (const std::string& item : bullets.items)
            text(fromStd(item), points(10), {}, QStringLiteral("–"));
    }

    void operator()(const Facts& facts)
    {
        const QString label
            = facts.caption.empty() ? QString() : QStringLiteral("Table %1.%2").arg(m_number).arg(++m_tables);
        addFacts(m_flow, facts, label, m_width, m_fonts);
    }

    void operator()(const Table& table)
    {
        const QString label
            = table.caption.empty() ? QString() : QStringLiteral("Table %1.%2").arg(m_number).arg(++m_tables);
        addTable(m_flow, table, label, m_width, m_fonts);
    }

    void operator()(const Formula&) {}

    void operator()(const Figure& figure)
    {
        addFigure(m_flow, figure, m_section.title, QStringLiteral("Figure %1.%2").arg(m_number).arg(++m_figures),
            m_width, m_fonts);
    }

private:
    void heading()
    {
        FlowBox box;
        box.before = points(26);
        box.section = fromStd(m_section.title);
        box.height = addLines(box.ops, 0, 0,
                         wrapText(m_number + QLatin1Char(' ') + box.section, TextStyle::Section, m_width, m_fonts),
                         TextStyle::Section, paperTokens().text, m_fonts)
            + points(2);
        box.keepWithNext = true;
        m_flow.add(std::move(box));
    }

    /// A paragraph as one box, or line by line when it is long.
    void text(const QString& content, double indent, const QColor& bar, const QString& mark)
    {
        constexpr qsizetype mostLines = 20;
        const QStringList lines = wrapText(content, TextStyle::Body, m_width - indent, m_fonts);
        for (qsizetype from = 0; from < lines.size(); from += mostLines) {
            FlowBox box;
            box.before = from == 0 ? points(mark.isEmpty() ? 6 : 3) : 0;
            box.height = addLines(
                box.ops, indent, 0, lines.mid(from, mostLines), TextStyle::Body, paperTokens().text, m_fonts);
            if (bar.isValid())
                box.ops.emplace_back(RectOp {{0, 0, points(2), box.height}, bar, {}, Hatch::None, {}});
            if (from == 0)
                addText(box.ops, {0, baselineIn(TextStyle::Body, m_fonts)}, mark, TextStyle::Body,
                    paperTokens().dimText, m_fonts);
            m_flow.add(std::move(box));
        }
    }

    void flush(std::vector<const Formula*>& formulas)
    {
        if (!formulas.empty())
            addFormulas(m_flow, formulas, m_width, m_fonts);
        formulas.clear();
    }

    void conclusion()
    {
        FlowBox box;
        box.before = points(11);
        double y = addLines(box.ops, 0, 0, {QStringLiteral("What the reader may and may not conclude")},
            TextStyle::BodyStrong, paperTokens().text, m_fonts);
        y = addLines(box.ops, 0, y, wrapText(fromStd(m_section.conclusion), TextStyle::Body, m_width, m_fonts),
            TextStyle::Body, paperTokens().text, m_fonts);
        box.height = y;
        m_flow.keepLastWithNext();
        m_flow.add(std::move(box));
    }

    Flow& m_flow;
    const Section& m_section;
    QString m_number;
    double m_width;
    const ReportFonts& m_fonts;
    bool m_afterText = false;
    int m_tables = 0;
    int m_figures = 0;
};

/// Running head and foot, once the number of pages is known.
void addFrame(ReportSheet& sheet, const Document& document, const PageGeometry& page, std::size_t number,
    std::size_t count, const ReportFonts& fonts)
{
    const QColor dim = paperTokens().dimText;
    if (!sheet.cover) {
        const double baseline = millimetres(12.4);
        const double sectionWidth = fonts.width(sheet.section, TextStyle::Small);
        addText(sheet.ops, {page.left, baseline},
            fonts.elided(fromStd(document.title), TextStyle::Small, page.columnWidth() - sectionWidth - points(20)),
            TextStyle::Small, dim, fonts);
        addText(sheet.ops, {page.right - sectionWidth, baseline}, sheet.section, TextStyle::Small, dim, fonts);
        const double y = millimetres(15);
        sheet.ops.emplace_back(LineOp {{page.left, y, page.right, y}, points(0.75), paperTokens().line});
    }
    const double rule = page.height - millimetres(14.4);
    sheet.ops.emplace_back(LineOp {{page.left, rule, page.right, rule}, points(0.75), paperTokens().line});
    const double baseline = rule + points(11);
    const QString numbers = QStringLiteral("%1 of %2").arg(number).arg(count);
    const double width = fonts.width(numbers, TextStyle::Small);
    addText(sheet.ops, {page.right - width, baseline}, numbers, TextStyle::Small, dim, fonts);
    addText(sheet.ops, {page.left, baseline},
        fonts.elided(fromStd(document.footer), TextStyle::Small, page.columnWidth() - width - points(20)),
        TextStyle::Small, dim, fonts);
}

} // namespace

std::vector<ReportSheet> layOutReport(const Document& document, Paper paper, const ReportFonts& fonts)
{
    const PageGeometry page(paper);
    CoverLayout cover = layOutCover(document, page, fonts);
    Flow body;
    // Facts that do not fit the first sheet go on, and the sections follow them; otherwise those start a sheet.
    Flow& flow = cover.fits ? body : cover.flow;
    int number = 0;
    for (const Section& section : document.sections) {
        if (!section.onCover)
            SectionLayout(flow, section, QString::number(++number), page.columnWidth(), fonts).add();
    }
    std::vector<ReportSheet> out = cover.flow.place(page, cover.top, cover.bottom);
    out.front().cover = true;
    out.front().ops.insert(out.front().ops.end(), cover.frame.begin(), cover.frame.end());
    if (cover.fits && number > 0) {
        std::vector<ReportSheet> sheets = body.place(page);
        out.insert(out.end(), std::make_move_iterator(sheets.begin()), std::make_move_iterator(sheets.end()));
    }
    for (std::size_t i = 0; i < out.size(); ++i)
        addFrame(out[i], document, page, i + 1, out.size(), fonts);
    return out;
}

} // namespace kvw::gui
