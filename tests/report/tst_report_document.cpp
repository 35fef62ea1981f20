// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/runs.h"
#include "plan/identity.h"
#include "plan/model_library.h"
#include "report/formula_book.h"
#include "report/sections.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>
#include <map>

using namespace kvw;
using namespace kvw::test;

namespace {

/// A report with everything that it is made of.
struct Made
{
    Plan plan;
    std::optional<Estimate> estimate;
    std::optional<RunSetup> setup;
    std::optional<RunRecord> record;
    std::unique_ptr<EventLog> events;
    ReportInputs inputs;
    Document document;
};

std::unique_ptr<Made> make(Plan plan, bool predicted, std::vector<std::string> leftOut = {})
{
    auto out = std::make_unique<Made>();
    out->plan = std::move(plan);
    out->inputs.plan = &out->plan;
    Result<Estimate> estimated = estimate(out->plan);
    if (estimated) {
        out->estimate = std::move(*estimated);
        out->inputs.estimate = &*out->estimate;
    } else {
        out->inputs.estimateError = estimated.error().text();
    }
    out->inputs.predictionError = "nobody asked for it.";
    if (predicted) {
        Plan run = out->plan;
        chooseRunEngine(run);
        out->setup = setUpRun(run, 1).value();
        out->record = predict(*out->setup, {}, &out->events).value();
        out->inputs.setup = &*out->setup;
        out->inputs.prediction = &*out->record;
        out->inputs.events = out->events.get();
    }
    out->inputs.leftOut = std::move(leftOut);
    out->document = makeReport(out->inputs);
    return out;
}

const Section* sectionOf(const Document& document, const std::string& id)
{
    for (const Section& section : document.sections) {
        if (section.id == id)
            return &section;
    }
    return nullptr;
}

template <typename Block>
std::vector<const Block*> blocksOf(const Section& section)
{
    std::vector<const Block*> out;
    for (const ReportBlock& block : section.blocks) {
        if (const auto* found = std::get_if<Block>(&block))
            out.push_back(found);
    }
    return out;
}

QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

Quantity entered(const char* name, std::int64_t value, Unit unit)
{
    return input(name, value, unit, Source {Source::Kind::User, "entered", name});
}

} // namespace

class ReportDocumentTest : public QObject
{
    Q_OBJECT

private slots:
    void sectionsSayWhatFollows_data();
    void sectionsSayWhatFollows();
    void withoutAnythingEverySectionSaysWhy();
    void cover();
    void coverOfEvidence();
    void classification();
    void stalePredictionIsMarked();
    void assumptionsOfAStalePredictionAreMarked();
    void defaultsOfARunAreAssumptions();
    void launchLineNamesItsFields();
    void libraryEntriesNameTheirSource();
    void leftOutSectionsAreNamed();
    void bridgeAddsUp();
    void blockMapIsThatOfTheLog();
    void sharedStepIsEnteredOnce();
    void statedFigureIsItsOwnInput();
    void sameExpressionHasOneEntry();
    void sourcesOfFormulasAreLetters();
    void figuresHaveOneBasis();
    void assumedIsMarked();
    void noCodesForReaders();
    void sourcesAreDated();
};

void ReportDocumentTest::sectionsSayWhatFollows_data()
{
    QTest::addColumn<QString>("path");
    for (const std::string& path : examplePaths())
        QTest::newRow(path.substr(path.rfind('/') + 1).c_str()) << q(path);
}

void ReportDocumentTest::sectionsSayWhatFollows()
{
    QFETCH(QString, path);
    const auto made = make(loadPlan(path.toStdString()).value(), true);
    std::vector<std::string> ids;
    for (const Section& section : made->document.sections) {
        ids.push_back(section.id);
        QVERIFY2(!section.blocks.empty(), section.id.c_str());
        QVERIFY2(section.onCover != !section.conclusion.empty(), section.id.c_str());
    }
    const std::vector<std::string> all {"cover", "identity", "loaded", "rests_on", "worksheet", "formulas", "need",
        "engine", "strategies", "tenants", "admission", "workload", "blockmap", "prediction", "evidence", "assumptions",
        "problems", "scope", "sources", "formula_steps"};
    QCOMPARE(ids, all);
    const Section* tenants = sectionOf(made->document, "tenants");
    QVERIFY(q(tenants->conclusion).contains(u"A salt does not authenticate, encrypt or complete isolation."));
}

void ReportDocumentTest::withoutAnythingEverySectionSaysWhy()
{
    const auto made = make(Plan {}, false);
    for (const char* id : {"worksheet", "workload", "blockmap", "prediction", "evidence", "assumptions", "sources"}) {
        const Section* section = sectionOf(made->document, id);
        QVERIFY2(section, id);
        QVERIFY2(!blocksOf<Paragraph>(*section).empty(), id);
    }
    QVERIFY(q(blocksOf<Paragraph>(*sectionOf(made->document, "blockmap"))[0]->text).contains(u"nobody asked for it"));
    QCOMPARE(made->document.cover.strip.size(), std::size_t {5});
    for (const Cover::Headline& one : made->document.cover.strip)
        QVERIFY2(!one.note.empty(), one.title.c_str());
    const auto* identity = blocksOf<Facts>(*sectionOf(made->document, "identity"))[0];
    QCOMPARE(identity->rows.size(), std::size_t {11});
    for (const auto& [name, value] : identity->rows)
        QCOMPARE(q(value), QStringLiteral("not stated"));
}

void ReportDocumentTest::cover()
{
    // 2 × 32 layers × 8 heads × 128 × 8,192 tokens × 4 sequences × 2 bytes = 4 GiB; the pool is stated as 6 GiB.
    const auto made = make(examplePlan("reference.kvplan"), true);
    const auto& strip = made->document.cover.strip;
    QCOMPARE(strip.size(), std::size_t {5});
    QCOMPARE(q(strip[0].value + " " + strip[0].unit), QStringLiteral("4.00 GiB"));
    QCOMPARE(q(strip[1].value + " " + strip[1].unit), QStringLiteral("4.00 GiB"));
    QCOMPARE(q(strip[2].value + " " + strip[2].unit), QStringLiteral("6.00 GiB"));
    // 6 GiB ÷ (16 × 131,072 B) are 3,072 blocks, one of which is never given away; 8,192 tokens take 512: 5.998.
    QCOMPARE(q(strip[3].value + " " + strip[3].unit), QStringLiteral("5 sequences"));
    QCOMPARE(q(strip[3].note), QStringLiteral("of 8,192 tokens; 4 planned: they fit"));
    // The engine's own figure stands under its own name.
    const auto* engine = blocksOf<Facts>(*sectionOf(made->document, "engine"))[0];
    std::map<std::string, std::string> printed(engine->rows.begin(), engine->rows.end());
    QCOMPARE(q(printed["Maximum concurrency, as the engine prints"]), QStringLiteral("6.00×"));
    QCOMPARE(q(strip[4].value), QStringLiteral("none"));
    QVERIFY(q(made->document.cover.line).contains(u"2 tenants in 2 sharing domains"));
    const auto* rests = blocksOf<Facts>(*sectionOf(made->document, "rests_on"))[0];
    std::map<std::string, std::string> facts(rests->rows.begin(), rests->rows.end());
    QCOMPARE(q(facts["Plan"]), q("SHA-256 " + planHash(made->plan)));
    QVERIFY(q(facts["Workload"]).endsWith(q(made->setup->workload.sha256())));
    QCOMPARE(q(facts["Prediction"]), QStringLiteral("current for this plan"));
}

void ReportDocumentTest::coverOfEvidence()
{
    Plan plan = examplePlan("reference.kvplan");
    const auto row = [](const char* id, const char* verdict) {
        EvidenceSummary out;
        out.id = id;
        out.title = id;
        out.verdict = verdict;
        out.run = "run1";
        return out;
    };
    plan.evidence = {row("a", "agrees"), row("b", "same counter"), row("c", "agrees"), row("d", "differs")};
    RunReference run;
    run.id = "run1";
    run.planHash = planHash(plan);
    plan.runs = {run};
    auto made = make(plan, false);
    QCOMPARE(q(made->document.cover.strip[4].value), QStringLiteral("2 of 3"));
    QCOMPARE(q(made->document.cover.strip[4].note), QStringLiteral("1 differs, 1 without verdict"));
    // What differs is seen first, and the rows say whose instrument it was.
    const auto* table = blocksOf<Table>(*sectionOf(made->document, "evidence"))[0];
    QCOMPARE(q(table->rows[0][0]), QStringLiteral("d"));
    QVERIFY(q(table->caption).startsWith(u"2 agree, 1 differs, 1 without verdict (1 same counter)"));
    // An edit makes them stale: the count keeps its mark.
    made = make(with(plan, {{"limits.concurrentSequences", "5"}}), false);
    QCOMPARE(q(made->document.cover.strip[4].value), QStringLiteral("~ 2 of 3"));
}

void ReportDocumentTest::classification()
{
    const Plan plain = smallPlan();
    const Plan marked = with(plain, {{"document.classification", "Confidential: planning only"}});
    QCOMPARE(planHash(marked), planHash(plain)); // no result depends on it
    const auto without = make(plain, false);
    QVERIFY(without->document.cover.classification.empty());
    QVERIFY(without->document.footer.starts_with("KV Workbench "));
    const auto made = make(marked, false);
    QCOMPARE(made->document.cover.classification, std::string("Confidential: planning only"));
    QCOMPARE(made->document.footer, "Confidential: planning only · " + without->document.footer);
    QVERIFY(toMarkdown(made->document).find("**Confidential: planning only**") != std::string::npos);
    // It goes with the file.
    Result<Plan> read = planFromJson(*parseJson(planToJson(marked), "plan"));
    QVERIFY(read);
    QCOMPARE(read->document.classification, marked.document.classification);
}

void ReportDocumentTest::stalePredictionIsMarked()
{
    auto made = make(smallPlan(), true);
    made->inputs.predictionStale = true;
    const Document document = makeReport(made->inputs);
    for (const char* id : {"workload", "blockmap", "prediction"}) {
        const auto* first = std::get_if<Paragraph>(&sectionOf(document, id)->blocks.front());
        QVERIFY2(first && first->text.starts_with("~ Stale"), id);
        const auto* current = std::get_if<Paragraph>(&sectionOf(made->document, id)->blocks.front());
        QVERIFY2(!current || !current->text.starts_with("~ Stale"), id);
    }
}

/// Whatever the scheduler and the cache take because nobody stated it is told, until it is stated.
void ReportDocumentTest::defaultsOfARunAreAssumptions()
{
    const std::vector<std::pair<const char*, const char*>> stated {{"admission.whenExhausted", "wait"},
        {"admission.reservation", "on_demand"}, {"reuse.prefixCaching", "on"}, {"engine.maxBatchedTokens", "64"},
        {"engine.maxSequences", "4"}};
    Plan bare = with(smallPlan(), {{"limits.concurrentSequences", ""}});
    for (const auto& [path, value] : stated)
        bare = with(bare, {{path, ""}});
    for (const auto& [path, value] : stated) {
        const auto told = [&, path = path](const Plan& plan) {
            const auto made = make(plan, true);
            const Assumptions all = assumptionsOf(made->inputs);
            return std::any_of(all.begin(), all.end(), [&](const Assumption& one) { return one.path == path; });
        };
        QVERIFY2(told(bare), path);
        QVERIFY2(!told(with(bare, {{path, value}})), path);
    }
}

void ReportDocumentTest::launchLineNamesItsFields()
{
    const Plan plan = with(smallPlan(), {{"model.basis", "config_file"}, {"engine.maxSequences", "7"}});
    const auto made = make(plan, false);
    const Section* engine = sectionOf(made->document, "engine");
    QVERIFY(engine);
    bool line = false;
    bool row = false;
    for (const ReportBlock& block : engine->blocks) {
        if (const auto* text = std::get_if<Paragraph>(&block))
            line = line || text->text.find("Launch line: vllm serve ") == 0;
        if (const auto* table = std::get_if<Table>(&block)) {
            for (const auto& cells : table->rows)
                row = row || cells == std::vector<std::string> {"--max-num-seqs", "7", "Sequences per batch"};
        }
    }
    QVERIFY(line);
    QVERIFY(row);
}

void ReportDocumentTest::assumptionsOfAStalePredictionAreMarked()
{
    // Predicted while the concurrency was assumed; stated since. What the prediction assumed is not the plan's now.
    auto made = make(with(smallPlan(), {{"limits.concurrentSequences", ""}}), true);
    const std::string before = toMarkdown(made->document);
    const std::string assumed = "Concurrency is not stated: one sequence.";
    const std::string mark = "~ Of the earlier plan that was predicted: ";
    QVERIFY(before.find(assumed) != std::string::npos);
    QVERIFY(before.find(mark) == std::string::npos);
    made->plan = with(made->plan, {{"limits.concurrentSequences", "4"}});
    made->estimate = estimate(made->plan).value();
    made->inputs.estimate = &*made->estimate;
    made->inputs.predictionStale = true;
    const std::string after = toMarkdown(makeReport(made->inputs));
    for (std::size_t at = after.find(assumed); at != std::string::npos; at = after.find(assumed, at + 1))
        QCOMPARE(after.substr(at - mark.size(), mark.size()), mark);
    QVERIFY(after.find(mark + assumed) != std::string::npos);
}

void ReportDocumentTest::libraryEntriesNameTheirSource()
{
    const auto& models = builtInModels();
    const auto inferred = std::find_if(
        models.begin(), models.end(), [](const LibraryModel& model) { return model.id == "zai-org/GLM-5.3"; });
    QVERIFY(inferred != models.end());
    const auto made = make(planFromLibrary(*inferred), false);
    const Table& sources = *blocksOf<Table>(*sectionOf(made->document, "sources"))[0];
    QCOMPARE(sources.rows[0][0], std::string("library: zai-org/GLM-5.3"));
    QVERIFY2(sources.rows[0][2].find("vllm-project/recipes@0c880268") != std::string::npos, sources.rows[0][2].c_str());
    QVERIFY(sources.rows[0][2].find("inferred from GLM-5.2") != std::string::npos);
    QCOMPARE(sources.rows[0][3], std::string("not stated in the source"));
    QCOMPARE(sources.rows[0][4], std::string("2026-11-30"));
    QVERIFY(toMarkdown(made->document).find("is from the library, not from the model") != std::string::npos);
}

void ReportDocumentTest::leftOutSectionsAreNamed()
{
    const auto made = make(smallPlan(), false, {"formulas", "identity", "no such section"});
    QVERIFY(!sectionOf(made->document, "formulas"));
    QVERIFY2(sectionOf(made->document, "identity"), "the first page is always whole");
    const auto* bullets = blocksOf<Bullets>(*sectionOf(made->document, "cover"))[0];
    QCOMPARE(q(bullets->items.back()), QStringLiteral("Sections left out of this document on request: Formulas."));
}

void ReportDocumentTest::bridgeAddsUp()
{
    // Eight ranks keep the latent whole: 7 × 34.3 GiB of replication.
    const auto made = make(examplePlan("deepseek-r1-tp8.kvplan"), false);
    const auto figures = blocksOf<Figure>(*sectionOf(made->document, "need"));
    QCOMPARE(figures.size(), std::size_t {1});
    const std::vector<Figure::Bar>& bars = figures[0]->bars;
    QCOMPARE(bars.front().to, std::int64_t {36'842'766'336});
    QCOMPARE(bars.back().to, std::int64_t {294'742'130'688});
    for (std::size_t i = 1; i + 1 < bars.size(); ++i)
        QCOMPARE(bars[i].from, bars[i - 1].to);
    QCOMPARE(bars[bars.size() - 2].to, bars.back().to);
    QCOMPARE(figures[0]->limit.value(), std::int64_t {8} * 8322 * 4'497'408);
}

void ReportDocumentTest::blockMapIsThatOfTheLog()
{
    const auto made = make(smallPlan(), true);
    const BlockMap map = made->events->stateAfter(static_cast<std::uint32_t>(made->record->peakStep())).value();
    const Section* section = sectionOf(made->document, "blockmap");
    const auto figures = blocksOf<Figure>(*section);
    QCOMPARE(figures.size(), std::size_t {1});
    QCOMPARE(figures[0]->pools.size(), map.blocks().size());
    std::map<std::string, std::int64_t> counts;
    for (std::size_t pool = 0; pool < map.blocks().size(); ++pool) {
        // The runs, laid end to end, are the blocks of the log.
        std::size_t at = 0;
        std::string before;
        for (const Figure::Run& run : figures[0]->pools[pool].runs) {
            QVERIFY(run.blocks > 0);
            QVERIFY2(run.state != before, "two runs of one state in a row");
            before = run.state;
            counts[run.state] += run.blocks;
            for (std::int64_t i = 0; i < run.blocks; ++i, ++at) {
                QVERIFY(at < map.blocks()[pool].size());
                const BlockSnapshot& block = map.blocks()[pool][at];
                const bool shared = block.state == BlockState::Active && block.references >= 2;
                const bool own = block.state == BlockState::Active && block.references == 1;
                QCOMPARE(q(run.state),
                    shared    ? QStringLiteral("shared")
                        : own ? QStringLiteral("private tail")
                              : q(blockStateName(block.state)));
            }
        }
        QCOMPARE(at, map.blocks()[pool].size());
    }
    QVERIFY2(counts["shared"] > 0 && counts["private tail"] > 0, "the workload shares nothing: the test shows nothing");
    // `kvw events` counts the same.
    std::map<std::string, std::int64_t> counted;
    for (const BlockCount& count : countBlocks(made->events->header(), map))
        counted[count.state] += count.blocks;
    QCOMPARE(counts["shared"] + counts["private tail"], counted["active"]);
    QCOMPARE(counts["cached"], counted["cached"]);
    QCOMPARE(counts["free"], counted["free"]);
    QCOMPARE(counts["held"], counted["held"]);
}

void ReportDocumentTest::sharedStepIsEnteredOnce()
{
    const auto rowBytes = [] {
        return named(
            entered("heads", 8, Unit::Head) * entered("width", 128, Unit::Element), "row", Unit::BytesPerEntry);
    };
    // Built twice: the same step all the same.
    const Quantity a = named(rowBytes() * entered("layers", 3, Unit::Layer), "a", Unit::Byte);
    const Quantity b = named(rowBytes() * entered("layers", 5, Unit::Layer), "b", Unit::Byte);
    FormulaBook book;
    book.add("A", a);
    book.add("B", b);
    book.add("A again", a, false);
    book.addSteps();
    const std::vector<Formula> formulas = book.formulas();
    QCOMPARE(formulas.size(), std::size_t {3});
    QCOMPARE(q(formulas[0].words), QStringLiteral("row (F3) × layers"));
    QCOMPARE(q(formulas[1].words), QStringLiteral("row (F3) × layers"));
    QCOMPARE(q(formulas[0].numbers), QStringLiteral("1,024 × 3"));
    QCOMPARE(q(formulas[0].inputs[0].first), QStringLiteral("row = 1,024 B/entry"));
    QCOMPARE(q(formulas[0].inputs[0].second), QStringLiteral("F3"));
    QCOMPARE(q(formulas[0].inputs[1].first), QStringLiteral("layers = 3 layers"));
    QCOMPARE(q(formulas[0].inputs[1].second), QStringLiteral("entered"));
    QCOMPARE(q(formulas[2].words), QStringLiteral("heads × width"));
    QCOMPARE(q(formulas[2].result), QStringLiteral("1,024 B/entry = 1.00 KiB"));
    QVERIFY(!formulas[0].assumed);
}

void ReportDocumentTest::statedFigureIsItsOwnInput()
{
    FormulaBook book;
    book.add("Block", input("block", std::int64_t {16}, Unit::Token, Source {Source::Kind::Assumption, "engine"}));
    const Formula formula = book.formulas()[0];
    QCOMPARE(formula.inputs.size(), std::size_t {1});
    QCOMPARE(q(formula.inputs[0].first), QStringLiteral("block = 16 tokens"));
    QCOMPARE(q(formula.inputs[0].second), QStringLiteral("assumption: engine"));
    QVERIFY(formula.assumed);
}

/// The same expression under two names is one entry with both; a name for an input is none; nothing is added up for a
/// 0.
void ReportDocumentTest::sameExpressionHasOneEntry()
{
    const Quantity heads = entered("heads", 8, Unit::Head);
    const Quantity width = entered("width", 1, Unit::Element);
    FormulaBook book;
    book.add("Row", named(heads * width, "row", Unit::BytesPerEntry));
    book.add("Entry", named(heads * width, "entry", Unit::BytesPerEntry));
    book.add("Nothing", named(sum({}), "nothing", Unit::Byte));
    const Quantity alias = named(width, "entries of K", Unit::EntriesPerSequence);
    book.add("Product", named(alias * heads, "product", Unit::Byte));
    book.addSteps();
    const std::vector<Formula> formulas = book.formulas();
    QCOMPARE(formulas.size(), std::size_t {2});
    QCOMPARE(q(formulas[0].title), QStringLiteral("Row; Entry"));
    QCOMPARE(q(formulas[1].words), QStringLiteral("width × heads"));
    QCOMPARE(q(formulas[1].inputs[0].first), QStringLiteral("width = 1 element"));
    QVERIFY2(book.keys().empty(), "what was entered has no letter");
}

void ReportDocumentTest::sourcesOfFormulasAreLetters()
{
    const auto from = [](const char* name, std::int64_t value, Source source) {
        return input(name, value, Unit::None, std::move(source));
    };
    const Source file {Source::Kind::File, "config.json", "/heads"};
    const Quantity a = from("a", 1'000'000, file);
    const Quantity b = from("b", 2, Source {Source::Kind::Assumption, "nobody said so"});
    FormulaBook book;
    book.add("P", named(a * b * from("c", 3, file), Naming {"p", Unit::Byte, {}, {"weights", "padding"}}));
    const Formula formula = book.formulas()[0];
    QCOMPARE(q(formula.words), QStringLiteral("a [a] × ◇\u00a0b\u00a0[b] × c [a]; excludes [c]"));
    QCOMPARE(q(formula.numbers), QStringLiteral("1,000,000 × 2 × 3"));
    QCOMPARE(q(formula.result), QStringLiteral("6,000,000 B = 5.72 MiB"));
    const std::vector<std::pair<std::string, std::string>> keys {
        {"a", "file config.json, /heads"}, {"b", "assumption: nobody said so"}, {"c", "weights, padding"}};
    QCOMPARE(book.keys(), keys);
}

/// Eight ranks each keep the latent whole: figures that are compared are all of all ranks.
void ReportDocumentTest::figuresHaveOneBasis()
{
    const auto made = make(examplePlan("deepseek-r1-tp8.kvplan"), false);
    // 16 × 32,768 tokens × 61 layers × 576 × 2 B, once and on eight ranks; the pool is 8 × 8,322 blocks of 4,497,408 B.
    const double once = 16.0 * 32'768 * 61 * 576 * 2;
    const auto& strip = made->document.cover.strip;
    const auto gib = [](double bytes) { return QString::number(bytes / (1 << 30), 'f', 2); };
    QCOMPARE(q(strip[0].value), gib(once));
    QVERIFY(q(strip[0].note).startsWith(u"the model once"));
    QCOMPARE(q(strip[1].value), gib(8 * once));
    QVERIFY(q(strip[1].note).startsWith(u"all 8 ranks"));
    QCOMPARE(q(strip[2].value), gib(8.0 * 8322 * 4'497'408));
    QCOMPARE(q(strip[2].note), q("all 8 ranks, " + gib(8322.0 * 4'497'408).toStdString() + " GiB each"));
    QCOMPARE(q(strip[3].value), QStringLiteral("16")); // 8,321 blocks to give away ÷ 512
    const auto* strategies = blocksOf<Table>(*sectionOf(made->document, "strategies"))[0];
    QCOMPARE(q(strategies->rows[0][2]), QStringLiteral("294,742,130,688"));
    QCOMPARE(q(strategies->rows[1][2]), QStringLiteral("294,742,130,688"));
    // By rank: bytes that are reserved there, not bytes of a token.
    const auto* worksheet = blocksOf<Table>(*sectionOf(made->document, "worksheet"))[0];
    QCOMPARE(q(worksheet->columns.back().title), QStringLiteral("Reserved, ranks 0–7, each"));
    QCOMPARE(q(worksheet->rows.front().back()), q(gib(8322.0 * 4'497'408).toStdString() + " GiB"));
    // 512 and 64 of 576 are the latent's and the rotary key's part of the pool.
    QCOMPARE(worksheet->parts, (std::vector<bool> {false, true, true, false}));
    QCOMPARE(q(worksheet->rows[1].back()), q(gib(8322.0 * 4'497'408 / 9 * 8).toStdString() + " GiB"));
}

void ReportDocumentTest::assumedIsMarked()
{
    const auto made = make(examplePlan("gpt-oss-120b.kvplan"), true);
    const auto rowsOf = [&](const char* id) {
        const auto* facts = blocksOf<Facts>(*sectionOf(made->document, id))[0];
        return std::map<std::string, std::string>(facts->rows.begin(), facts->rows.end());
    };
    auto identity = rowsOf("identity");
    QCOMPARE(q(identity["Cache element type"]), QStringLiteral("◇ bf16, no scales"));
    QCOMPARE(q(identity["Concurrency"]), QStringLiteral("12 sequences"));
    QVERIFY(q(made->document.cover.line).contains(u"◇ 2 tenants in 2 sharing domains"));
    QVERIFY(rowsOf("workload")["Requests"].starts_with("◇ "));
    const auto* worksheet = blocksOf<Table>(*sectionOf(made->document, "worksheet"))[0];
    QCOMPARE(q(worksheet->rows[0][4]), QStringLiteral("◇ bf16"));
    QVERIFY(q(worksheet->columns[10].span).contains(u"◇ 12 × 131,072 tokens"));
    QCOMPARE(q(worksheet->columns.back().merged), QStringLiteral("no sharding rule chosen"));
    // 12 × ⌈131,072 ÷ 16⌉ and 12 × (⌈(128 − 1 + 2,048) ÷ 16⌉ + 1): nobody planned these pools.
    auto prediction = rowsOf("prediction");
    QVERIFY2(prediction["Pool 0"].starts_with("◇ 98,304 blocks"), prediction["Pool 0"].c_str());
    QVERIFY2(prediction["Pool 1"].starts_with("◇ 1,644 blocks"), prediction["Pool 1"].c_str());
    QVERIFY(q(prediction["Pool fraction"]).startsWith(u"–"));
    bool listed = false;
    for (const ReportBlock& block : sectionOf(made->document, "assumptions")->blocks) {
        if (const auto* bullets = std::get_if<Bullets>(&block))
            for (const std::string& item : bullets->items)
                listed = listed || item.find("98,304 + 1,644 blocks") != std::string::npos;
    }
    QVERIFY2(listed, "the size of the pools is in no list of assumptions");
    // Without an engine nothing is concluded about one.
    for (const char* id : {"blockmap", "prediction", "need", "engine", "admission"})
        QVERIFY2(!q(sectionOf(made->document, id)->conclusion).contains(u"engine's rules"), id);
    for (const std::vector<std::string>& row : blocksOf<Table>(*sectionOf(made->document, "sources"))[0]->rows)
        QVERIFY2(row[0].find("engine rule") == std::string::npos, row[0].c_str());
}

/// Names of choices and fields are for files: the document has titles.
void ReportDocumentTest::noCodesForReaders()
{
    for (const std::string& path : examplePaths()) {
        const auto made = make(loadPlan(path).value(), true);
        const std::string text = toMarkdown(made->document);
        for (const char* code : {"mutual_tls", "gateway_hmac", "engine_lru", "verified_token", "preempt_recompute",
                 "on_demand", "positional_key", "mutual\\_tls", "engine\\_lru", "engine.max", "limits.",
                 "cache.element", "1 ranks", "1 heads", "max(max", "'s "})
            QVERIFY2(text.find(code) == std::string::npos, (path + ": " + code).c_str());
    }
    const auto made = make(examplePlan("reference.kvplan"), false);
    const auto* tenants = blocksOf<Table>(*sectionOf(made->document, "tenants"))[0];
    const std::vector<std::string> acme {"Acme", "group-1", "sharing group", "mutual TLS subject",
        "gateway: HMAC of group", "engine’s eviction (LRU)", "device", "counters", "not stated", "not stated"};
    QCOMPARE(tenants->rows[0], acme);
}

void ReportDocumentTest::sourcesAreDated()
{
    const auto made = make(examplePlan("deepseek-r1-tp8.kvplan"), false);
    const auto* table = blocksOf<Table>(*sectionOf(made->document, "sources"))[0];
    const auto column = [&](const char* title) {
        return static_cast<std::size_t>(std::find_if(table->columns.begin(), table->columns.end(),
                                            [&](const Table::Column& one) { return one.title == title; })
            - table->columns.begin());
    };
    int files = 0;
    int engines = 0;
    int background = 0;
    for (const auto& row : table->rows) {
        QVERIFY(!row[column("Published")].empty());
        QVERIFY(!row[column("Verified")].empty());
        const bool numbers = row[column("Used for")] == "numbers";
        background += row[column("Used for")] == "background" ? 1 : 0;
        QVERIFY2(numbers || row[column("Used for")] == "background", row[0].c_str());
        if (row[0].starts_with("file: ")) {
            ++files;
            QVERIFY(numbers && row[column("What of it")].size() == std::string("SHA-256 ").size() + 64);
        }
        if (row[0].starts_with("engine rule: ")) {
            // The snapshot's date, and the day on which it was executed: one row, one pair of dates.
            ++engines;
            QVERIFY(numbers);
            QCOMPARE(q(row[column("Published")]), QStringLiteral("2026-08-17"));
            QCOMPARE(q(row[column("Verified")]), QStringLiteral("2026-11-30"));
        }
        if (!numbers)
            QCOMPARE(q(row[column("Verified")]), QStringLiteral("quoted, not checked"));
    }
    QCOMPARE(files, 1);
    QCOMPARE(engines, 1);
    QCOMPARE(background, 5);
}

QTEST_APPLESS_MAIN(ReportDocumentTest)
#include "tst_report_document.moc"
