// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/storyview.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QUrl>

namespace kvw::gui {

namespace {

constexpr std::size_t namedTables = 6; ///< more are counted, not named

QString row(const QString& name, const QString& value)
{
    return QStringLiteral("<tr><td style='padding-right:10px' class='dim'>%1</td><td>%2</td></tr>").arg(name, value);
}

} // namespace

StoryView::StoryView(MapState& map, QWidget* parent)
    : QTextBrowser(parent)
    , m_map(map)
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Story of the selected block"));
    connect(this, &QTextBrowser::anchorClicked, this, &StoryView::follow);
    connect(&map, &MapState::selectionChanged, this, &StoryView::refresh);
    connect(&map, &MapState::changed, this, &StoryView::refresh);
    refresh();
}

QSize StoryView::sizeHint() const
{
    return {280, 260};
}

void StoryView::follow(const QUrl& link)
{
    const std::uint32_t number = link.path().toUInt();
    if (link.scheme() == QLatin1String("request"))
        m_map.showRequest(number);
    else if (link.scheme() == QLatin1String("step"))
        m_map.setStep(number);
}

QString StoryView::request(std::uint32_t id, std::uint16_t tenant) const
{
    return QStringLiteral("<a href='request:%1'>r%1</a> (%2)").arg(id).arg(m_map.tenantName(tenant).toHtmlEscaped());
}

QString StoryView::line(std::uint32_t step, const QString& what, const QString& note) const
{
    const QString small = note.isEmpty() ? QString() : QStringLiteral("<br><span class='small'>%1</span>").arg(note);
    return QStringLiteral("<tr><td align='right' style='padding-right:8px'><a href='step:%1'>%2</a></td>"
                          "<td style='padding-left:8px'>%3%4</td></tr>")
        .arg(step)
        .arg(countText(step), what, small);
}

QString StoryView::facts(const BlockRef& ref, const BlockStory& story) const
{
    const BlockSnapshot& block = m_map.block(ref);
    QString out = QStringLiteral("<table cellspacing='0'>");
    const bool holds = block.state == BlockState::Active || block.state == BlockState::Cached;
    if (holds) {
        const GroupLayout& group = m_map.header().layout.groups[block.group];
        const std::int64_t first = std::int64_t {block.position} * group.blockTokens;
        out += row(tr("Holds"),
            block.tokens == 0 ? tr("no token yet, %1").arg(QString::fromStdString(group.id).toHtmlEscaped())
                              : tr("tokens %1–%2, %3")
                                    .arg(countText(first), countText(first + block.tokens - 1),
                                        QString::fromStdString(group.id).toHtmlEscaped()));
        out += row(tr("Fill"), tr("%1 of %2 tokens").arg(countText(block.tokens), countText(group.blockTokens)));
        if (block.tenant < m_map.source()->domains.size())
            out += row(tr("Domain"), QString::fromStdString(m_map.source()->domains[block.tenant].key).toHtmlEscaped());
        if (story.digest && *story.digest < m_map.source()->digests.size()) {
            const BlockKey& key = m_map.source()->digests[*story.digest];
            const QString hex = QStringLiteral("%1").arg(key.high, 16, 16, QLatin1Char('0'));
            out += row(tr("Identity"),
                QStringLiteral("<code>%1…</code>, ").arg(hex.left(8)) + tr("depth %1").arg(countText(block.position)));
        } else {
            out += row(tr("Identity"), tr("none yet: a block is findable when it is full"));
        }
    }
    const std::vector<TableUse> uses = usesOf(m_map.header(), m_map.state(), ref.pool, ref.block);
    if (!uses.empty()) {
        QStringList names;
        for (std::size_t i = 0; i < std::min(uses.size(), namedTables); ++i)
            names.push_back(QStringLiteral("<a href='request:%1'>r%1</a>").arg(uses[i].request));
        if (uses.size() > namedTables)
            names.push_back(tr("%1 more").arg(countText(static_cast<std::int64_t>(uses.size() - namedTables))));
        out += row(tr("In use by"), names.join(QStringLiteral(", ")));
    }
    return out + QStringLiteral("</table>");
}

QString StoryView::life(const BlockStory& story) const
{
    QString out = QStringLiteral("<table cellspacing='0' cellpadding='1'>");
    if (story.allocated)
        out += line(story.allocated->step,
            tr("Allocated for %1").arg(request(story.allocated->request, story.allocated->tenant)),
            story.uses > 1 ? tr("its use number %1").arg(countText(story.uses)) : tr("its first use"));
    if (story.indexed)
        out += line(*story.indexed, tr("Full and findable"));
    if (story.firstHit)
        out += line(
            story.firstHit->step, tr("First hit by %1").arg(request(story.firstHit->request, story.firstHit->tenant)));
    if (story.firstForeignHit && story.firstForeignHit != story.firstHit)
        out += line(story.firstForeignHit->step,
            tr("First hit by another tenant: %1")
                .arg(request(story.firstForeignHit->request, story.firstForeignHit->tenant)));
    if (story.lastHit && story.hits > 1)
        out += line(
            story.lastHit->step, tr("Last hit by %1").arg(request(story.lastHit->request, story.lastHit->tenant)));
    if (story.hits > 1) {
        QStringList by;
        for (const auto& [tenant, hits] : story.hitsByTenant)
            by.push_back(QStringLiteral("%1 %2").arg(m_map.tenantName(tenant).toHtmlEscaped(), countText(hits)));
        out += line(
            m_map.step(), tr("<b>%1 hits</b> so far: %2").arg(countText(story.hits), by.join(QStringLiteral(", "))));
    }
    if (story.left) {
        const bool cached = story.indexed.has_value();
        const QString who = request(story.left->request, story.left->tenant);
        out += line(story.left->step,
            story.left->kind == EventKind::Drop ? tr("Left the window of %1").arg(who)
                                                : tr("Given back by %1").arg(who),
            cached ? tr("in no table since; cached") : tr("in no table since; free, it had no identity"));
    }
    if (story.evicted)
        out += line(story.evicted->step,
            tr("Evicted for %1").arg(request(story.evicted->request, story.evicted->tenant)),
            tr("least recently released first"));
    return out + QStringLiteral("</table>");
}

/// What the rules have in store for it.
QString StoryView::rule(const BlockSnapshot& block) const
{
    QString out;
    if (block.state == BlockState::Active)
        out = block.indexed ? tr("When its last table drops it, it stays cached.")
                            : tr("When its last table drops it, it is free: it has no identity yet.");
    else if (block.state == BlockState::Cached)
        out = tr("It goes when a block is needed and it is the one that was released first.");
    if (!out.isEmpty() && !m_map.source()->rule.isEmpty())
        out += tr(" Rule: %1.").arg(m_map.source()->rule.toHtmlEscaped());
    return out;
}

QString StoryView::happening(const Event& event) const
{
    const QString who = request(event.request, event.tenant);
    switch (event.kind) {
    case EventKind::Allocate:
        return tr("allocated for %1").arg(who);
    case EventKind::Append:
        return tr("written up to %1 tokens by %2").arg(countText(event.value), who);
    case EventKind::Index:
        return tr("full and findable");
    case EventKind::Reference:
        return tr("hit by %1").arg(who);
    case EventKind::Release:
        return tr("given back by %1").arg(who);
    case EventKind::Drop:
        return tr("leaves the window of %1").arg(who);
    case EventKind::Evict:
        return tr("evicted for %1").arg(who);
    default:
        return {};
    }
}

void StoryView::refresh()
{
    const Tokens& tokens = tokensFor(palette());
    document()->setDefaultStyleSheet(
        QStringLiteral("a { color: %1; text-decoration: none } .dim, .small { color: %2 } .small { font-size: small }")
            .arg(tokens.derived.name(), tokens.dimText.name()));
    const std::optional<BlockRef> ref = m_map.source() ? m_map.selectedBlock() : std::nullopt;
    if (!ref) {
        setHtml(QStringLiteral("<p class='dim'>%1</p>").arg(tr("Select a block to see its story.")));
        return;
    }
    const BlockStory story = blockStory(m_map.header(), m_map.replay().events(), ref->pool, ref->block, m_map.step());
    const QStringList head = m_map.describe(*ref).split(QStringLiteral(", "));
    QString html = QStringLiteral("<p><b style='font-size:large'>%1</b> &nbsp;<span class='dim'>%2</span></p>")
                       .arg(head.front(), QStringList(head.mid(1, 2)).join(QStringLiteral(", ")));
    html += facts(*ref, story) + QStringLiteral("<hr>");
    if (story.uses == 0 && !story.left)
        html += QStringLiteral("<p class='dim'>%1</p>")
                    .arg(m_map.block(*ref).state == BlockState::Held ? tr("Held for the whole run: never given away.")
                                                                     : tr("Never used so far."));
    else
        html += life(story);
    html += QStringLiteral("<p>%1</p>")
                .arg(story.next ? tr("Next, in step <a href='step:%1'>%2</a>: %3.")
                                      .arg(story.next->step)
                                      .arg(countText(story.next->step), happening(*story.next))
                                : tr("Nothing more happens to it in this log."));
    html += QStringLiteral("<p class='small'>%1</p>").arg(rule(m_map.block(*ref)));
    setHtml(html);
}

} // namespace kvw::gui
