// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/blockmappage.h"
#include "blockmap/cellpainter.h"
#include "blockmap/legendview.h"
#include "blockmap/mapbar.h"
#include "blockmap/poolview.h"
#include "blockmap/requestsview.h"
#include "blockmap/storyview.h"
#include "blockmap/timestrip.h"
#include "document/plandocument.h"
#include "evidence/runs.h"
#include "models/roles.h"
#include "shell/mainwindow.h"
#include "style/tokens.h"
#include "support/example_plans.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace kvw;
using namespace kvw::gui;

namespace {

constexpr int patience = 120'000; // ms

QByteArray run(const QStringList& arguments)
{
    QProcess program;
    program.start(qEnvironmentVariable("KVW_BINARY"), arguments);
    if (!program.waitForFinished(patience) || program.exitCode() != 0)
        return {};
    return program.readAllStandardOutput();
}

/// The prediction of a plan as the document keeps it.
std::shared_ptr<const PredictionResult> predicted(const Plan& plan)
{
    auto out = std::make_shared<PredictionResult>();
    Result<RunSetup> setup = setUpStatedRun(plan, 1);
    if (!setup)
        throw std::runtime_error(setup.error().text());
    out->setup = *setup;
    std::unique_ptr<EventLog> log;
    Result<RunRecord> record = predict(out->setup, {}, &log);
    if (!record)
        throw std::runtime_error(record.error().text());
    out->record = *record;
    out->events = std::move(log);
    return out;
}

Plan crowdedPlan()
{
    return test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "1MiB"}, {"engine.maxSequences", "12"}});
}

/// Both tenants in one sharing group, so that they share blocks.
Plan sharingPlan()
{
    return test::with(crowdedPlan(), {{"budget.kvBytesPerRank", "3MiB"}, {"tenants.birch.sharingGroup", "group-1"}});
}

/// A page with a prediction in it, shown.
struct Fixture
{
    PlanDocument document;
    BlockMapPage page {document};

    explicit Fixture(const Plan& plan)
    {
        page.resize(1000, 640);
        page.show();
        document.setPlan(plan, {});
        document.setPrediction(predicted(plan));
    }
    bool ready()
    {
        return QTest::qWaitFor([&] { return page.map().source() != nullptr; }, patience);
    }
};

/// A step with something in every state that the plan offers.
std::uint32_t busyStep(const Replay& replay)
{
    std::uint32_t out = 0;
    std::int64_t most = -1;
    for (const StepCounts& counts : replay.steps()) {
        const std::int64_t score = std::min({counts.shared, counts.cached, counts.active - counts.shared});
        if (score > most) {
            most = score;
            out = counts.step;
        }
    }
    return out;
}

} // namespace

class BlockMapTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        QApplication::setPalette(lightPalette());
    }
    void countsAreTheProgrammes_data();
    void countsAreTheProgrammes();
    void cellsAreTheStates();
    void cellsAreTheTenants();
    void cellsAreTheSteps();
    void legendSaysTheLimits();
    void bothViewsNameTheSameBlock();
    void hoverIsLinkedAndLeaves();
    void keysWalkThroughBlocks();
    void keysColourAndZoom();
    void zoomNeverLosesABlock();
    void rowsAreSortedByTheirTables();
    void filtersFadeTheOthers();
    void legendClickFilters();
    void requestFromThePrediction();
    void timeGoesToEvents();
    void storyIsTheEvents();
    void sharesKeepWhatMustNotBe();
    void liveRunsAreASource();
    void anotherPlanEmptiesIt();
    void findsByName();
    void docksComeAndGo();
    void aBlockOpensInExplain();
    void tabGoesFromFiltersToTime();
};

void BlockMapTest::countsAreTheProgrammes_data()
{
    QTest::addColumn<QString>("name");
    for (const std::string& path : test::examplePaths())
        QTest::newRow(path.c_str()) << QString::fromStdString(path);
}

void BlockMapTest::countsAreTheProgrammes()
{
    if (qEnvironmentVariable("KVW_BINARY").isEmpty())
        QSKIP("the program is not built");
    QFETCH(QString, name);
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("log.events"));
    QVERIFY(!run({QStringLiteral("predict"), name, QStringLiteral("--events"), file}).isEmpty());

    // The map reads the file that the program wrote: the same log, not one like it.
    Result<std::unique_ptr<EventLog>> log = EventLog::open(file.toStdString());
    QVERIFY(log);
    MapState map;
    map.setPalette(lightPalette());
    LegendView legend(map);
    QAbstractItemModelTester tester(legend.model(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    map.setSource(
        makeMapSource(QStringLiteral("prediction"), {}, std::shared_ptr<const EventLog>(std::move(*log)), {}, false));
    const std::uint32_t last = map.replay().lastStep();
    for (const std::uint32_t step : {0U, 1U, last / 7, last / 3, last / 2, last * 5 / 6, last}) {
        map.setStep(step);
        const QJsonObject wanted = QJsonDocument::fromJson(run({QStringLiteral("events"), file, QStringLiteral("--at"),
                                                               QString::number(step), QStringLiteral("--json")}))
                                       .object();
        QCOMPARE(wanted.value(QStringLiteral("step")).toInt(), static_cast<int>(step));
        const QJsonObject states = wanted.value(QStringLiteral("states")).toObject();
        qint64 all = 0;
        for (const QJsonValue& count : states)
            all += count.toInteger();
        map.setColouring(Colouring::State);
        QHash<QString, qint64> shown;
        for (int row = 0; row < legend.model()->rowCount(); ++row)
            shown[legend.model()->index(row, 0).data().toString()]
                = qRound64(legend.model()->index(row, 1).data(SortRole).toDouble());
        const auto state = [&](const char* key) { return states.value(QLatin1String(key)).toInteger(); };
        QCOMPARE(shown[QStringLiteral("Shared")] + shown[QStringLiteral("Private tail")], state("active"));
        QCOMPARE(shown[QStringLiteral("Cached")], state("cached"));
        QCOMPARE(shown[QStringLiteral("Free")], state("free"));
        QCOMPARE(shown[QStringLiteral("Held")], state("held"));
        QCOMPARE(shown[QStringLiteral("Device pools")], all);

        // By tenant: a block of one tenant's tables only, or cached for it.
        map.setColouring(Colouring::Tenant);
        QHash<QString, qint64> cached;
        for (const QJsonValue& value : wanted.value(QStringLiteral("counts")).toArray()) {
            const QJsonObject row = value.toObject();
            if (row.value(QStringLiteral("state")).toString() == QLatin1String("cached"))
                cached[row.value(QStringLiteral("tenant")).toString()]
                    += row.value(QStringLiteral("blocks")).toInteger();
        }
        for (const LegendCount& row : map.legend().rows) {
            if (row.what == BlockClass::Cached)
                QCOMPARE(
                    row.blocks, cached.take(map.tenantName(static_cast<std::uint16_t>(std::countr_zero(row.tenants)))));
        }
        QVERIFY(cached.isEmpty());

        // By layer group, active and cached apart.
        map.setColouring(Colouring::Group);
        QHash<QString, qint64> groups;
        for (const QJsonValue& value : wanted.value(QStringLiteral("counts")).toArray()) {
            const QJsonObject row = value.toObject();
            const QString in = row.value(QStringLiteral("group")).toString();
            if (!in.isEmpty())
                groups[row.value(QStringLiteral("state")).toString() + QLatin1Char(' ') + in]
                    += row.value(QStringLiteral("blocks")).toInteger();
        }
        for (const LegendCount& row : map.legend().rows) {
            if (row.index < 0)
                continue;
            const QString in
                = QString::fromStdString(map.header().layout.groups[static_cast<std::size_t>(row.index)].id);
            const QString kept = row.what == BlockClass::Cached ? QStringLiteral("cached ") : QStringLiteral("active ");
            QCOMPARE(row.blocks, groups.take(kept + in));
        }
        QVERIFY(groups.isEmpty());
        // Free, held and the sum stand in every legend.
        for (const Colouring colouring : {Colouring::Domain, Colouring::Group, Colouring::Age, Colouring::References}) {
            map.setColouring(colouring);
            shown.clear();
            for (int row = 0; row < legend.model()->rowCount(); ++row)
                shown[legend.model()->index(row, 0).data().toString()]
                    = qRound64(legend.model()->index(row, 1).data(SortRole).toDouble());
            QCOMPARE(shown[QStringLiteral("Free")], state("free"));
            QCOMPARE(shown[QStringLiteral("Held")], state("held"));
            QCOMPARE(shown[QStringLiteral("Device pools")], all);
        }
    }
}

void BlockMapTest::cellsAreTheStates()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    PoolView& pool = fixture.page.pool();
    const QImage picture = pool.viewport()->grab().toImage();
    const gui::Tokens& tokens = tokensFor(map.palette());
    QHash<QRgb, int> seen;
    const auto blocks = static_cast<std::uint32_t>(map.state().map.blocks().front().size());
    QVERIFY(pool.cellSize() >= CellPainter::patternSize);
    for (std::uint32_t b = 0; b < blocks; ++b) {
        const BlockSnapshot& block = map.block({0, b});
        const QRectF rect = pool.rectOf({0, b});
        QCOMPARE(pool.blockAt(rect.center().toPoint()), std::optional(BlockRef {0, b}));
        // The middle of the upper edge: away from lines, fill and letters.
        const QColor shown = picture.pixelColor(rect.topLeft().toPoint() + QPoint(pool.cellSize() / 2, 0));
        QColor wanted = tokens.blockFree;
        if (block.state == BlockState::Active)
            wanted = block.references > 1 ? tokens.blockShared : tokens.blockPrivate;
        else if (block.state == BlockState::Cached)
            wanted = tokens.blockCached;
        else if (block.state == BlockState::Held)
            wanted = tokens.blockHeld;
        QCOMPARE(shown.name(), wanted.name());
        ++seen[wanted.rgb()];
    }
    QVERIFY(seen.size() >= 4);
}

void BlockMapTest::cellsAreTheTenants()
{
    Fixture fixture(sharingPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setColouring(Colouring::Tenant);
    bool together = false;
    for (const StepCounts& counts : map.replay().steps()) {
        if (counts.shared == 0 || counts.step % 5 != 0)
            continue;
        map.setStep(counts.step);
        for (std::uint32_t b = 0; b < map.visualsOf(0).size() && !together; ++b) {
            std::set<std::uint16_t> tenants;
            for (const TableUse& use : usesOf(map.header(), map.state(), 0, b))
                tenants.insert(use.tenant);
            if (tenants.size() < 2)
                continue;
            together = true;
            const MapVisual& look = map.visuals()[map.visualsOf(0)[b]];
            QCOMPARE(look.fill, tokensFor(map.palette()).tenants[*tenants.begin()]);
            QCOMPARE(look.lower, tokensFor(map.palette()).tenants[*tenants.rbegin()]);
            QCOMPARE(map.cellText({0, b}), QStringLiteral("A+B"));
        }
    }
    QVERIFY(together);
    QCOMPARE(map.crossDomain(), 0);
}

void BlockMapTest::cellsAreTheSteps()
{
    Fixture fixture(sharingPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    const auto& scale = tokensFor(map.palette()).sequential;
    const auto lookOf = [&](std::uint32_t b) { return map.visuals()[map.visualsOf(0)[b]]; };
    QSet<QString> ages;
    for (std::uint32_t b = 0; b < map.visualsOf(0).size(); ++b) {
        const BlockSnapshot& block = map.block({0, b});
        map.setColouring(Colouring::References);
        if (block.state == BlockState::Active) // 1, 2, 3–4, 5–8, 9–16, 17 and more
            QCOMPARE(lookOf(b).fill,
                scale[block.references < 3      ? block.references - 1
                        : block.references < 5  ? 2
                        : block.references < 9  ? 3
                        : block.references < 17 ? 4
                                                : 5]);
        map.setColouring(Colouring::Age);
        const bool owned = block.state == BlockState::Active || block.state == BlockState::Cached;
        QCOMPARE(std::find(scale.begin(), scale.end(), lookOf(b).fill) != scale.end(), owned);
        QCOMPARE(lookOf(b).pattern == MapVisual::WideDiagonals, block.state == BlockState::Cached);
        if (owned) {
            ages.insert(lookOf(b).fill.name());
            if (map.age({0, b}) < 1000)
                QCOMPARE(map.cellText({0, b}), QString::number(map.age({0, b})));
            const BlockStory story = blockStory(map.header(), map.replay().events(), 0, b, map.step());
            QCOMPARE(map.age({0, b}), std::int64_t {map.step()} - story.allocated->step);
        }
        map.setColouring(Colouring::Domain);
        if (owned) // one domain: the last of the colours
            QCOMPARE(lookOf(b).fill, tokensFor(map.palette()).tenants[7]);
    }
    QVERIFY(ages.size() >= 3);
}

void BlockMapTest::legendSaysTheLimits()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    const auto names = [&] {
        QStringList out;
        for (int row = 0; row < fixture.page.legend().model()->rowCount(); ++row)
            out.push_back(fixture.page.legend().model()->index(row, 0).data().toString());
        return out;
    };
    map.setColouring(Colouring::References);
    QCOMPARE(names().mid(0, 7),
        (QStringList {"In 1 table", "In 2 tables", "In 3–4 tables", "In 5–8 tables", "In 9–16 tables", "In ≥ 17 tables",
            "Cached"}));
    map.setColouring(Colouring::Age);
    QVERIFY(map.replay().lastStep() >= 64 && map.replay().lastStep() < 729); // 3⁶ = 729
    QCOMPARE(names().mid(0, 6),
        (QStringList {"0–2 steps", "3–8 steps", "9–26 steps", "27–80 steps", "81–242 steps", "≥ 243 steps"}));
    map.setColouring(Colouring::Domain);
    QVERIFY(names().contains(QStringLiteral("D1 group-1: Acme")));
    map.setColouring(Colouring::Group);
    QVERIFY(names().contains(QStringLiteral("G1 full")));
    // A click on a step leaves the others out.
    map.setColouring(Colouring::Age);
    emit fixture.page.legend().clicked(fixture.page.legend().model()->index(2, 0));
    const auto& looks = map.visualsOf(0);
    QCOMPARE(std::count_if(looks.begin(), looks.end(), [](auto look) { return (look & MapState::fadedBit) == 0; }),
        map.legend().rows[2].blocks);
}

void BlockMapTest::bothViewsNameTheSameBlock()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    RequestsView& requests = fixture.page.requests();
    QVERIFY(!requests.rows().rows.isEmpty());
    int clicked = 0;
    for (const RequestRow& row : requests.rows().rows) {
        const QRect rect = requests.rowRect(row.request);
        if (row.trace->phase != RequestPhase::Running || rect.isEmpty())
            continue;
        for (int x = rect.left(); x < rect.right(); x += 37) {
            const RequestsView::Spot spot = requests.spotAt({x, rect.center().y()});
            QCOMPARE(spot.request, std::optional(row.request));
            if (!spot.block)
                continue;
            QTest::mouseClick(requests.viewport(), Qt::LeftButton, {}, {x, rect.center().y()});
            QCOMPARE(map.selectedBlock(), spot.block);
            QCOMPARE(map.selectedRequest(), std::optional(row.request));
            const std::vector<TableUse> uses = usesOf(map.header(), map.state(), spot.block->pool, spot.block->block);
            QVERIFY(std::any_of(uses.begin(), uses.end(), [&](const TableUse& u) { return u.request == row.request; }));
            ++clicked;
        }
    }
    QVERIFY(clicked > 10);
    // The other way: a block in the pool selects a request whose table names it.
    PoolView& pool = fixture.page.pool();
    const std::uint32_t block = map.selectedBlock()->block;
    map.select({});
    QTest::mouseClick(pool.viewport(), Qt::LeftButton, {}, pool.rectOf({0, block}).center().toPoint());
    QCOMPARE(map.selectedBlock(), std::optional(BlockRef {0, block}));
    QVERIFY(map.selectedRequest());
}

void BlockMapTest::hoverIsLinkedAndLeaves()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    PoolView& pool = fixture.page.pool();
    QTest::mouseMove(pool.viewport(), pool.rectOf({0, 3}).center().toPoint());
    QTRY_COMPARE(map.hoveredBlock(), std::optional(BlockRef {0, 3}));
    const QImage with = fixture.page.requests().viewport()->grab().toImage();
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(pool.viewport(), &leave);
    QVERIFY(!map.hoveredBlock());
    QVERIFY(!map.hoveredRequest());
    QVERIFY(!map.selectedBlock()); // a hover selects nothing
    if (!usesOf(map.header(), map.state(), 0, 3).empty())
        QVERIFY(fixture.page.requests().viewport()->grab().toImage() != with);
}

void BlockMapTest::keysWalkThroughBlocks()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    PoolView& pool = fixture.page.pool();
    map.select(BlockRef {0, 10});
    QTest::keyClick(&pool, Qt::Key_Right);
    QCOMPARE(map.selectedBlock()->block, 11U);
    QTest::keyClick(&pool, Qt::Key_Left);
    QTest::keyClick(&pool, Qt::Key_Left);
    QCOMPARE(map.selectedBlock()->block, 9U);
    QTest::keyClick(&pool, Qt::Key_Down);
    QCOMPARE(map.selectedBlock()->block, 9U + static_cast<unsigned>(pool.columns()));
    QTest::keyClick(&pool, Qt::Key_End);
    QCOMPARE(map.selectedBlock()->block, static_cast<std::uint32_t>(map.visualsOf(0).size() - 1));
    QTest::keyClick(&pool, Qt::Key_Home);
    QCOMPARE(map.selectedBlock()->block, 0U);

    // In the logical view: along the table, and to the next row that has the same block.
    RequestsView& requests = fixture.page.requests();
    const auto shared
        = std::find_if(requests.rows().rows.begin(), requests.rows().rows.end(), [&](const RequestRow& row) {
              return row.trace->phase == RequestPhase::Running
                  && map.block({0, row.trace->tables[0].front()}).references > 1;
          });
    QVERIFY(shared != requests.rows().rows.end());
    const std::uint32_t block = shared->trace->tables[0].front();
    const std::uint32_t second = shared->trace->tables[0][1];
    const std::uint32_t request = shared->request;
    map.select(BlockRef {0, block}, request);
    QTest::keyClick(&requests, Qt::Key_Right);
    QCOMPARE(map.selectedBlock()->block, second);
    QTest::keyClick(&requests, Qt::Key_Left);
    QCOMPARE(map.selectedBlock()->block, block);
    QTest::keyClick(&requests, Qt::Key_Down, Qt::AltModifier);
    if (map.selectedRequest() == request) // it was the last of them
        QTest::keyClick(&requests, Qt::Key_Up, Qt::AltModifier);
    QVERIFY(map.selectedRequest() != request);
    QCOMPARE(map.selectedBlock()->block, block);
    const std::vector<TableUse> uses = usesOf(map.header(), map.state(), 0, block);
    QVERIFY(std::any_of(
        uses.begin(), uses.end(), [&](const TableUse& use) { return use.request == map.selectedRequest(); }));
}

void BlockMapTest::keysColourAndZoom()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    PoolView& pool = fixture.page.pool();
    fixture.page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&fixture.page));
    pool.setFocus();
    QTest::keyClick(&pool, Qt::Key_2);
    QCOMPARE(map.colouring(), Colouring::Tenant);
    const QList<Colouring> order {Colouring::State, Colouring::Tenant, Colouring::Domain, Colouring::Group,
        Colouring::Age, Colouring::References};
    for (int i = 5; i >= 0; --i) {
        QTest::keyClick(&pool, static_cast<Qt::Key>(Qt::Key_1 + i));
        QCOMPARE(map.colouring(), order[i]);
    }
    const int fitted = pool.cellSize();
    QTest::keyClick(&pool, Qt::Key_Plus);
    QVERIFY(pool.cellSize() > fitted);
    QVERIFY(!pool.isFitted());
    QTest::keyClick(&pool, Qt::Key_Minus);
    QTest::keyClick(&pool, Qt::Key_Minus);
    QCOMPARE(pool.cellSize(), fitted);
    QTest::keyClick(&pool, Qt::Key_Plus);
    QTest::keyClick(&pool, Qt::Key_0);
    QVERIFY(pool.isFitted());
    QCOMPARE(pool.cellSize(), fitted);
}

void BlockMapTest::zoomNeverLosesABlock()
{
    Fixture fixture(test::examplePlan("gpt-oss-120b.kvplan")); // two pools, 10^5 blocks
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    PoolView& pool = fixture.page.pool();
    for (int zoom = 0; zoom < 8; ++zoom) {
        for (const BlockRef ref : {BlockRef {0, 0}, BlockRef {0, 98303}, BlockRef {1, 7}, BlockRef {1, 1643}}) {
            map.select(ref);
            const QRectF rect = pool.rectOf(ref);
            QVERIFY(pool.viewport()->rect().adjusted(-1, -1, 1, 1).contains(rect.center().toPoint()));
            const std::optional<BlockRef> found
                = pool.blockAt(rect.topLeft().toPoint() + QPoint(1, 1) * (pool.cellSize() / 2));
            QVERIFY(found);
            QCOMPARE(found->pool, ref.pool);
            QVERIFY(ref.block - found->block < 16); // the same, or one that shares its pixel
            if (pool.cellSize() > 0)
                QCOMPARE(found->block, ref.block);
        }
        pool.zoomIn();
    }
    QVERIFY(pool.cellSize() > CellPainter::fillSize);
    pool.viewport()->grab();
}

void BlockMapTest::rowsAreSortedByTheirTables()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    bool preempted = false;
    for (const StepCounts& counts : map.replay().steps()) {
        if (counts.preemptions == 0 && counts.step % 20 != 0)
            continue;
        map.setStep(counts.step);
        const RequestRows rows = RequestRows::of(map);
        int expected = 0;
        for (const auto& [id, request] : map.state().requests)
            expected += request.phase == RequestPhase::Preempted || request.held > 0 ? 1 : 0;
        QCOMPARE(rows.rows.size(), expected);
        QCOMPARE(rows.running + rows.preempted, expected);
        int sum = 0;
        for (const RequestSection& section : rows.sections)
            sum += section.rows;
        QCOMPARE(sum, expected);
        for (int i = 1; i < rows.rows.size(); ++i) {
            const RequestRow& a = rows.rows[i - 1];
            const RequestRow& b = rows.rows[i];
            QVERIFY(a.section <= b.section);
            if (a.section != b.section)
                continue;
            if (a.trace->phase == RequestPhase::Preempted) {
                QCOMPARE(b.trace->phase, RequestPhase::Preempted);
                preempted = true;
            } else if (b.trace->phase == RequestPhase::Running) {
                QVERIFY(a.trace->tables[0] <= b.trace->tables[0]);
            }
        }
        preempted = preempted || rows.preempted > 0;
        fixture.page.requests().viewport()->grab();
    }
    QVERIFY(preempted);
}

void BlockMapTest::filtersFadeTheOthers()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    const auto passing = [&] {
        return std::count_if(map.visualsOf(0).begin(), map.visualsOf(0).end(),
            [](std::uint16_t visual) { return (visual & MapState::fadedBit) == 0; });
    };
    const auto all = static_cast<std::ptrdiff_t>(map.visualsOf(0).size());
    QCOMPARE(passing(), all);
    // Tenants of different domains: what the one has, the other has not.
    std::ptrdiff_t sum = 0;
    for (int tenant = 0; tenant < 2; ++tenant) {
        map.setTenantFilter(tenant);
        std::ptrdiff_t wanted = 0;
        for (std::uint32_t b = 0; b < map.visualsOf(0).size(); ++b)
            wanted += (map.tenants({0, b}) >> tenant & 1) != 0 ? 1 : 0;
        QCOMPARE(passing(), wanted);
        sum += wanted;
    }
    map.setTenantFilter(-1);
    map.setGroupFilter(0);
    QCOMPARE(passing(), sum); // the one group has all blocks that somebody has
    map.setGroupFilter(-1);
    QCOMPARE(passing(), all);
}

void BlockMapTest::legendClickFilters()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    LegendView& legend = fixture.page.legend();
    emit legend.clicked(legend.model()->index(2, 0));
    QCOMPARE(map.legendFilter(), 2);
    std::int64_t shown = 0;
    for (const std::uint16_t visual : map.visualsOf(0))
        shown += (visual & MapState::fadedBit) == 0 ? 1 : 0;
    QCOMPARE(shown, map.legend().rows[2].blocks);
    // The counts do not follow the filter: they are of the pool.
    QCOMPARE(map.legend().blocks, static_cast<std::int64_t>(map.visualsOf(0).size()));
    emit legend.clicked(legend.model()->index(2, 0));
    QCOMPARE(map.legendFilter(), -1);
    emit legend.clicked(legend.model()->index(5, 0)); // the sum filters nothing
    QCOMPARE(map.legendFilter(), -1);
}

void BlockMapTest::requestFromThePrediction()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    for (const quint32 request : {0U, 17U, 39U}) {
        fixture.page.showRequest(request);
        QCOMPARE(map.selectedRequest(), std::optional(request));
        QVERIFY(map.selectedBlock());
        QVERIFY(map.state().requests.at(request).held > 0);
        QVERIFY(!fixture.page.requests().rowRect(request).isEmpty());
    }
}

void BlockMapTest::timeGoesToEvents()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    auto* strip = fixture.page.findChild<TimeStrip*>();
    auto* chart = fixture.page.findChild<TimeChart*>();
    QVERIFY(strip && chart);
    map.setStep(0);
    std::set<std::uint32_t> wanted;
    for (const Event& event : map.replay().events()) {
        if (event.kind == EventKind::Evict && event.step > 0)
            wanted.insert(event.step);
    }
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        QTest::keyClick(&fixture.page, Qt::Key_BracketRight);
        seen.insert(map.step());
    }
    QCOMPARE(seen, wanted);
    QTest::keyClick(&fixture.page, Qt::Key_BracketRight); // there is no further one
    QCOMPARE(map.step(), *wanted.rbegin());
    QTest::keyClick(&fixture.page, Qt::Key_BracketLeft);
    QVERIFY(map.step() < *wanted.rbegin());
    // The handle stands where the step is.
    for (const std::uint32_t step : {0U, map.replay().lastStep() / 2, map.replay().lastStep()})
        QVERIFY(std::abs(static_cast<int>(chart->stepAt(chart->xOf(step))) - static_cast<int>(step)) <= 2);
    map.setStep(0);
    QTest::keyClick(&fixture.page, Qt::Key_Space);
    QVERIFY(strip->isPlaying());
    QTRY_VERIFY(map.step() > 0);
    QTest::keyClick(&fixture.page, Qt::Key_Space);
    QVERIFY(!strip->isPlaying());
}

void BlockMapTest::storyIsTheEvents()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    auto* story = fixture.page.findChild<StoryView*>();
    QVERIFY(story);
    map.setStep(busyStep(map.replay()));
    for (std::uint32_t b = 0; b < map.visualsOf(0).size(); b += 5) {
        map.select(BlockRef {0, b});
        // By hand: the last allocation up to now, and the hits since.
        std::optional<Event> allocated;
        int hits = 0;
        for (const Event& event : map.replay().events()) {
            if (event.block != b || event.step > map.step())
                continue;
            if (event.kind == EventKind::Allocate) {
                allocated = event;
                hits = 0;
            }
            hits += event.kind == EventKind::Reference ? 1 : 0;
        }
        const QString text = story->toPlainText();
        if (allocated)
            QVERIFY2(text.contains(QStringLiteral("Allocated for r%1 ").arg(allocated->request)), qPrintable(text));
        if (hits > 1)
            QVERIFY2(text.contains(QStringLiteral("%1 hits so far").arg(hits)), qPrintable(text));
        QCOMPARE(text.contains(QStringLiteral("First hit")), hits > 0);
    }
}

void BlockMapTest::sharesKeepWhatMustNotBe()
{
    // A tenant of one domain in a table with a block of another: drawn, counted and never averaged away.
    EventLogHeader header;
    header.tenants = {"a", "b"};
    header.layout.pools = {{Bytes(1024), Blocks(100'000), Blocks(0)}};
    GroupLayout group;
    group.id = "full";
    header.layout.groups = {group};
    auto log = std::make_shared<EventLog>(header);
    (void)log->addDigest({1, 1});
    log->add({EventKind::Allocate, 0, 0, 5000, 1, 0, 1, 0});
    log->add({EventKind::Append, 0, 0, 5000, 1, 0, 1, 16});
    log->add({EventKind::Index, 0, 0, 5000, 1, 0, 1, 0});
    log->add({EventKind::Reference, 0, 1, 5000, 2, 0, 1, 0});
    MapState map;
    map.setPalette(lightPalette());
    PoolView pool(map);
    pool.resize(140, 140);
    pool.show();
    map.setSource(makeMapSource(
        QStringLiteral("run"), {}, log, {SharingDomain {1, "group:a"}, SharingDomain {2, "group:b"}}, false));
    QCOMPARE(map.crossDomain(), 1);
    QCOMPARE(pool.cellSize(), 0); // several blocks a pixel
    const QImage picture = pool.viewport()->grab().toImage();
    const QColor alarm = tokensFor(map.palette()).differs;
    int found = 0;
    for (int y = 0; y < picture.height(); ++y) {
        for (int x = 0; x < picture.width(); ++x)
            found += picture.pixelColor(x, y).name() == alarm.name() ? 1 : 0;
    }
    QCOMPARE(found, 1);
}

void BlockMapTest::liveRunsAreASource()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    QCOMPARE(fixture.page.source(), QStringLiteral("prediction"));
    const auto other = predicted(sharingPlan());
    auto live = std::make_shared<LiveResult>();
    live->id = QStringLiteral("run1");
    live->device = QStringLiteral("host");
    live->state = QStringLiteral("running");
    live->setup = other->setup;
    live->events = other->events;
    live->planHash = other->setup.planHash;
    fixture.document.setRun(live);
    QCOMPARE(fixture.page.source(), QStringLiteral("prediction")); // nobody asked for it
    fixture.page.setSource(QStringLiteral("run1"));
    QTRY_COMPARE(fixture.page.source(), QStringLiteral("run1"));
    QCOMPARE(fixture.page.map().replay().events().size(), other->events->events().size());
    auto done = std::make_shared<LiveResult>(*live);
    done->state = QStringLiteral("done");
    fixture.document.setRun(done);
    fixture.page.setSource(QStringLiteral("prediction"));
    QTRY_COMPARE(fixture.page.source(), QStringLiteral("prediction"));
}

void BlockMapTest::anotherPlanEmptiesIt()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    fixture.page.map().select(BlockRef {0, 5});
    fixture.page.showRequest(3);
    fixture.document.setPlan(test::smallPlan(), {});
    QVERIFY(!fixture.page.map().source());
    for (QWidget* view : fixture.page.findChildren<QWidget*>())
        view->repaint(); // nothing of the old log is touched
    fixture.page.grab();
    QCOMPARE(fixture.page.source(), QString());
}

void BlockMapTest::findsByName()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    MapState& map = fixture.page.map();
    map.setStep(busyStep(map.replay()));
    QVERIFY(map.find(QStringLiteral("b17")));
    QCOMPARE(map.selectedBlock(), std::optional(BlockRef {0, 17}));
    QVERIFY(map.find(QStringLiteral("0:5")));
    QCOMPARE(map.selectedBlock(), std::optional(BlockRef {0, 5}));
    for (const char* absent : {"b99999", "1:0", "r4000", "nobody", "", "b", "r", "ffffffffffffffffffff"})
        QVERIFY(!map.find(QString::fromLatin1(absent)));
    QCOMPARE(map.selectedBlock(), std::optional(BlockRef {0, 5}));
    // Every indexed block is found by its own identity.
    for (std::uint32_t b = 0; b < map.visualsOf(0).size(); b += 7) {
        if (!map.block({0, b}).indexed)
            continue;
        const BlockStory story = blockStory(map.header(), map.replay().events(), 0, b, map.step());
        const QString digest
            = QStringLiteral("%1").arg(map.source()->digests[*story.digest].high, 16, 16, QLatin1Char('0'));
        QVERIFY(map.find(digest));
        QCOMPARE(map.selectedBlock(), std::optional(BlockRef {0, b}));
    }
    QVERIFY(map.find(QStringLiteral("r3")));
    QCOMPARE(map.selectedRequest(), std::optional<std::uint32_t>(3));
    QVERIFY(map.find(QStringLiteral("Birch")));
    QCOMPARE(map.tenantFilter(), 1);
}

void BlockMapTest::docksComeAndGo()
{
    MainWindow window;
    window.show();
    window.showPage(QStringLiteral("blockmap"));
    const auto* story = window.findChild<QDockWidget*>(QStringLiteral("storyDock"));
    const auto* legend = window.findChild<QDockWidget*>(QStringLiteral("legendDock"));
    QVERIFY(story && legend);
    QVERIFY(!story->isHidden());
    window.showPage(QStringLiteral("worksheet"));
    QVERIFY(story->isHidden() && legend->isHidden());
    window.showPage(QStringLiteral("blockmap"));
    QVERIFY(!story->isHidden() && !legend->isHidden());
}

/// Every block says how large it is and how that came about, once it is selected.
void BlockMapTest::aBlockOpensInExplain()
{
    Fixture fixture(sharingPlan());
    QVERIFY(fixture.ready());
    const QSignalSpy opened(&fixture.page, &Page::figureSelected);
    const PoolLayout& layout = fixture.page.map().header().layout;
    for (std::uint32_t pool = 0; pool < layout.pools.size(); ++pool) {
        for (const std::int64_t block : {std::int64_t {1}, layout.pools[pool].blocks.value - 1}) {
            fixture.page.map().select(BlockRef {pool, static_cast<std::uint32_t>(block)});
            const QString path = opened.last().front().toString();
            const std::optional<Explanation> found = fixture.page.explanationOf(path);
            QVERIFY2(found && found->quantity, qPrintable(path));
            QCOMPARE(found->quantity->integer(), layout.pools[pool].blockBytes.value);
            QVERIFY(found->title.find("Block " + std::to_string(block)) == 0);
        }
        QVERIFY(
            !fixture.page.explanationOf(QStringLiteral("block.%1.%2").arg(pool).arg(layout.pools[pool].blocks.value)));
    }
    QVERIFY(!fixture.page.explanationOf(QStringLiteral("block.%1.0").arg(layout.pools.size())));
    QVERIFY(!fixture.page.explanationOf(QStringLiteral("prediction.steps")));
}

void BlockMapTest::tabGoesFromFiltersToTime()
{
    Fixture fixture(crowdedPlan());
    QVERIFY(fixture.ready());
    const QWidgetList order = fixture.page.tabOrder();
    const auto place = [&](const QWidget* part) {
        for (qsizetype i = 0; i < order.size(); ++i) {
            if (order[i] == part || part->isAncestorOf(order[i]))
                return i;
        }
        return qsizetype {-1};
    };
    const QVector<const QWidget*> wanted {fixture.page.findChild<MapBar*>(), &fixture.page.requests(),
        &fixture.page.pool(), fixture.page.findChild<TimeStrip*>()};
    qsizetype before = -1;
    for (const QWidget* part : wanted) {
        QVERIFY(part);
        QVERIFY2(place(part) > before, part->metaObject()->className());
        before = place(part);
    }
}

QTEST_MAIN(BlockMapTest)
#include "tst_blockmap.moc"
