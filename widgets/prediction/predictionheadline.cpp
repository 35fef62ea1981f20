// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "prediction/predictionheadline.h"

#include "models/numbertext.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <array>
#include <utility>

namespace kvw::gui {

namespace {

/// A number that opens, in its own colour: the line under it says that it does.
QString link(const char* path, const QString& text, const QColor& ink)
{
    return QStringLiteral("<a href=\"prediction.%1\" style=\"color:%3\">%2</a>")
        .arg(QLatin1String(path), text.toHtmlEscaped(), ink.name());
}

QStringList captions()
{
    const auto tr = [](const char* text) { return PredictionHeadline::tr(text); };
    return {tr("preemptions"), tr("rejected or failed"), tr("tokens computed again"), tr("completed of offered"),
        tr("prompt tokens by prefix hits"), tr("steps")};
}

} // namespace

PredictionHeadline::PredictionHeadline(QWidget* parent)
    : QWidget(parent)
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(24);
    for (const QString& caption : captions()) {
        auto* box = new QVBoxLayout;
        box->setSpacing(0);
        auto* value = new QLabel(this);
        value->setFont(strongFont(font(), 1.25));
        value->setTextFormat(Qt::RichText);
        value->setTextInteractionFlags(
            Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
        value->setAccessibleName(caption);
        value->setToolTip(tr("Click a number to see how it came about"));
        connect(value, &QLabel::linkActivated, this, &PredictionHeadline::figureSelected);
        auto* about = new ElidedLabel(caption, this);
        about->setFont(smallFont(font()));
        about->setInk(QPalette::PlaceholderText);
        box->addWidget(value);
        box->addWidget(about);
        layout->addLayout(box);
        m_values.push_back(value);
        m_captions.push_back(about);
    }
    layout->addStretch(1);
}

QStringList PredictionHeadline::plainFigures(const RunRecord& record)
{
    const RunTotals totals = record.totals();
    return {countText(record.preemptions), countText(totals.refused), countText(record.recomputedTokens),
        tr("%1 of %2").arg(countText(totals.completed), countText(totals.offered)), countText(totals.hitTokens),
        countText(record.steps)};
}

void PredictionHeadline::setRecord(const RunRecord& record, bool stale, const QStringList& before)
{
    using Part = std::pair<const char*, QString>; // path of the figure, and its text
    const RunTotals totals = record.totals();
    const Part none {"", {}};
    const QVector<std::array<Part, 3>> values {
        {Part {"preemptions", countText(record.preemptions)}, none, none},
        {Part {"refused", countText(totals.refused)}, none, none},
        {Part {"recomputedTokens", countText(record.recomputedTokens)}, none, none},
        {Part {"outcomes.completed", countText(totals.completed)}, Part {"offered", countText(totals.offered)}, none},
        {Part {"hitTokens", countText(totals.hitTokens)}, Part {"promptTokens", countText(totals.promptTokens)},
            Part {"hitShare", percentText(totals.hitTokens, totals.promptTokens)}},
        {Part {"steps", countText(record.steps)}, none, none},
    };
    const std::array alarming {record.preemptions > 0, totals.refused > 0, record.recomputedTokens > 0,
        totals.completed < totals.offered, false, false};
    QStringList abouts = captions();
    // Steps are numbered from 0, here as in the block map and in every story.
    if (record.steps > 0)
        abouts.back() = tr("steps, 0 to %1").arg(countText(record.steps - 1));
    const QStringList now = plainFigures(record);
    const QStringList then = before.isEmpty() ? now : before;
    for (qsizetype i = 0; i < abouts.size(); ++i) {
        const bool changed = now[i] != then[i];
        m_captions[i]->setText(changed ? tr("%1, was %2").arg(abouts[i], then[i]) : abouts[i]);
        m_captions[i]->setTip(changed ? tr("As the prediction of the plan before the last edits had it") : QString());
    }
    const Tokens& tokens = tokensFor(palette());
    m_texts.clear();
    for (qsizetype i = 0; i < values.size(); ++i) {
        const bool alarm = alarming[static_cast<std::size_t>(i)];
        const QString mark = (stale ? QStringLiteral("~ ") : QString()) + (alarm ? QStringLiteral("! ") : QString());
        const QColor ink = stale ? tokens.dimText : alarm ? tokens.warning : tokens.derived;
        const auto open = [&](const Part& part) { return link(part.first, part.second, ink); };
        QString shown = mark + open(values[i][0]);
        QString plain = mark + values[i][0].second;
        if (!values[i][1].second.isEmpty()) {
            shown = tr("%1 of %2").arg(shown, open(values[i][1]));
            plain = tr("%1 of %2").arg(plain, values[i][1].second);
        }
        if (!values[i][2].second.isEmpty()) {
            shown = tr("%1, %2").arg(shown, open(values[i][2]));
            plain = tr("%1, %2").arg(plain, values[i][2].second);
        }
        QPalette palette = this->palette();
        palette.setColor(QPalette::WindowText, stale ? tokens.dimText : alarm ? tokens.warning : tokens.text);
        m_values[i]->setPalette(palette);
        m_values[i]->setText(shown);
        m_values[i]->setAccessibleDescription(plain);
        m_texts.push_back(plain);
    }
}

QStringList PredictionHeadline::texts() const
{
    return m_texts;
}

} // namespace kvw::gui
