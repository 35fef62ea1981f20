// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "random_expression.h"
#include "units/amount.h"
#include "units/quantity.h"

#include <QElapsedTimer>
#include <QTest>

#include <set>

using namespace kvw;
using namespace kvw::test;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

Quantity whole(std::int64_t value, const std::string& name = "x")
{
    return input(name, value, Unit::None, Source {});
}

Worth worthOf(const Quantity& quantity)
{
    return quantity.ok() ? Worth::of(quantity.number()) : Worth {};
}

Worth worthOf(const Result<Number>& number)
{
    return number ? Worth::of(*number) : Worth {};
}

QByteArray print(const Worth& worth)
{
    if (worth.isNothing())
        return "nothing";
    return worth.isInteger() ? QByteArray::number(static_cast<qlonglong>(worth.integer))
                             : QByteArray::number(worth.real, 'g', 17);
}

} // namespace

class QuantityTest : public QObject
{
    Q_OBJECT
private slots:
    void checkedArithmeticIsThatOf128Bits();
    void everyNodeHasTheValueOfSchoolArithmetic();
    void evaluatingAnewIsBuildingAnew();
    void errors_data();
    void errors();
    void anErrorSticks();
    void truncationReachesTheLastDouble();
    void aReplacedStepIsTakenAsGiven();
    void inputsInOrderOfFirstUse();
    void restsOnAnAssumption();
    void naming();
    void sumsOfNoneAndOne();
    void sharedNodesAreVisitedOnce_data();
    void sharedNodesAreVisitedOnce();
    void stableNames();
};

void QuantityTest::checkedArithmeticIsThatOf128Bits()
{
    RandomExpressions random(1);
    const auto same = [](std::optional<std::int64_t> found, const Worth& expected) {
        return found ? expected == Worth::of(static_cast<Wide>(*found)) : expected.isNothing();
    };
    for (int i = 0; i < 200'000; ++i) {
        const std::int64_t a = random.integer();
        const std::int64_t b = random.integer();
        const Worth wa = Worth::of(static_cast<Wide>(a));
        const Worth wb = Worth::of(static_cast<Wide>(b));
        const bool all = same(checkedAdd(a, b), combine('+', wa, wb))
            && same(checkedSubtract(a, b), combine('-', wa, wb)) && same(checkedMultiply(a, b), combine('*', wa, wb))
            && same(floorDivide(a, b), combine('f', wa, wb)) && same(ceilDivide(a, b), combine('c', wa, wb));
        QVERIFY2(all, qPrintable(QStringLiteral("%1 and %2").arg(a).arg(b)));
    }
}

void QuantityTest::everyNodeHasTheValueOfSchoolArithmetic()
{
    RandomExpressions random(2);
    int withValue = 0;
    int without = 0;
    for (int i = 0; i < 8'000; ++i) {
        const bool reals = i % 3 == 0;
        const Recipe recipe = random.recipe(4, 8, reals ? "+-*fc<>/stSMnr" : "+-*fc<>SMnr", reals);
        const std::vector<Quantity> built = recipe.build(recipe.leaves);
        const std::vector<Worth> expected = recipe.worths(recipe.leaves);
        for (std::size_t k = 0; k < built.size(); ++k) {
            const Worth found = worthOf(built[k]);
            QVERIFY2(found == expected[k],
                ("recipe " + QByteArray::number(i) + ", node " + QByteArray::number(k) + ": " + print(found)
                    + " instead of " + print(expected[k]) + " for "
                    + QByteArray::fromStdString(formulaInNumbers(built[k].derivation())))
                    .constData());
            QCOMPARE(built[k].ok(), built[k].error().empty());
            (built[k].ok() ? withValue : without) += 1;
        }
    }
    QVERIFY(withValue > 4'000);
    QVERIFY(without > 4'000);
}

void QuantityTest::evaluatingAnewIsBuildingAnew()
{
    RandomExpressions random(3);
    int changed = 0;
    for (int i = 0; i < 6'000; ++i) {
        const bool reals = i % 3 == 0;
        const Recipe recipe = random.recipe(4, 8, reals ? "+-*fc<>/stSMnr" : "+-*fc<>SMnr", reals);
        const std::vector<Quantity> built = recipe.build(recipe.leaves);
        std::vector<Number> others = random.numbers(4, reals);
        std::map<const DerivationNode*, Number> replaced;
        for (std::size_t k = 0; k < others.size(); ++k)
            replaced[built[k].derivation().get()] = others[k];
        const std::vector<Quantity> again = recipe.build(others);
        for (std::size_t k = 0; k < built.size(); ++k) {
            const Worth same = worthOf(evaluate(built[k].derivation()));
            QVERIFY2(same == worthOf(built[k]), "evaluating with the same inputs gives another value");
            const Worth found = worthOf(evaluate(built[k].derivation(), replaced));
            const Worth expected = worthOf(again[k]);
            QVERIFY2(found == expected,
                ("recipe " + QByteArray::number(i) + ", node " + QByteArray::number(k) + ": " + print(found)
                    + " instead of " + print(expected))
                    .constData());
            changed += found == same ? 0 : 1;
        }
    }
    QVERIFY(changed > 4'000);
}

void QuantityTest::errors_data()
{
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("error");
    const QString tooLarge = QStringLiteral("the result does not fit into 64 bits");
    const QString zero = QStringLiteral("division by zero");
    const QString notWhole = QStringLiteral("a whole division met a number that is not an integer");
    const QString notFinite = QStringLiteral("the result is not a finite number");
    QTest::newRow("add") << 0 << tooLarge;
    QTest::newRow("subtract") << 1 << tooLarge;
    QTest::newRow("multiply") << 2 << tooLarge;
    QTest::newRow("floor of least by -1") << 3 << tooLarge;
    QTest::newRow("ceil of least by -1") << 4 << tooLarge;
    QTest::newRow("floor by zero") << 5 << zero;
    QTest::newRow("ceil by zero") << 6 << zero;
    QTest::newRow("ratio by zero") << 7 << zero;
    QTest::newRow("add reals too large") << 8 << notFinite;
    QTest::newRow("a real in a division") << 9 << notWhole;
    QTest::newRow("truncate too large") << 10 << tooLarge;
    QTest::newRow("scale too large") << 11 << notFinite;
    QTest::newRow("ratio too large") << 12 << notFinite;
}

void QuantityTest::errors()
{
    QFETCH(int, which);
    QFETCH(QString, error);
    const Quantity huge = input("huge", 1.7e308, Unit::None, Source {});
    const Quantity tiny = input("tiny", 1e-300, Unit::None, Source {});
    const Quantity results[] {whole(most) + whole(1), whole(least) - whole(1), whole(most) * whole(2),
        floorDivide(whole(least), whole(-1)), ceilDivide(whole(least), whole(-1)), floorDivide(whole(1), whole(0)),
        ceilDivide(whole(1), whole(0)), ratio(whole(1), whole(0)), whole(1) + huge + huge, floorDivide(huge, whole(1)),
        truncate(huge), scale(huge, huge), ratio(huge, tiny)};
    const Quantity& result = results[which];
    QVERIFY(!result.ok());
    QCOMPARE(QString::fromStdString(result.error()), error);
    QCOMPARE(result.real(), 0.0);
    const Result<Number> again = evaluate(result.derivation());
    QVERIFY(!again);
    QCOMPARE(QString::fromStdString(again.error().message), error);
}

/// Terms of nested sums join their parent; an error among them must not get lost on the way.
void QuantityTest::anErrorSticks()
{
    const Quantity tooLarge = whole(most) + whole(1);
    const Quantity byZero = floorDivide(whole(1), whole(0));
    const std::vector<Quantity> terms {whole(-5), tooLarge};
    for (const Quantity& later : {tooLarge + whole(-1), whole(-1) + tooLarge, tooLarge - whole(1), tooLarge * whole(0),
             whole(0) * tooLarge, minimum(whole(1), tooLarge), maximum(tooLarge, whole(1)), sum(terms),
             minimum(std::span<const Quantity>(terms)), named(tooLarge, "n", Unit::Byte),
             named(named(tooLarge, "n", Unit::Byte), "m", Unit::Byte), scale(tooLarge, whole(1)),
             ratio(whole(1), tooLarge), truncate(tooLarge)}) {
        QVERIFY(!later.ok());
        QCOMPARE(later.error(), tooLarge.error());
    }
    QCOMPARE((byZero + tooLarge).error(), byZero.error()); // the first one
    // The order of the sum that was written, not a luckier one.
    QVERIFY(!(whole(-1) + (whole(most) + whole(1))).ok());
    QVERIFY((whole(most) + (whole(1) + whole(-1))).ok());
}

void QuantityTest::truncationReachesTheLastDouble()
{
    const double below = std::nextafter(0x1p63, 0.0);
    QCOMPARE(truncate(input("x", below, Unit::None, Source {})).integer(), std::int64_t {9223372036854774784});
    QCOMPARE(truncate(input("x", -0x1p63, Unit::None, Source {})).integer(), least);
    QVERIFY(!truncate(input("x", 0x1p63, Unit::None, Source {})).ok());
    QVERIFY(!truncate(input("x", std::nan(""), Unit::None, Source {})).ok());
    QCOMPARE(truncate(input("x", -2.75, Unit::None, Source {})).integer(), std::int64_t {-2});
}

void QuantityTest::aReplacedStepIsTakenAsGiven()
{
    const Quantity a = whole(6, "a");
    const Quantity step = named(a * whole(7, "b"), "step", Unit::Byte);
    const Quantity total = step + a;
    QCOMPARE(total.integer(), std::int64_t {48});
    const Result<Number> replaced = evaluate(total.derivation(), {{step.derivation().get(), std::int64_t {100}}});
    QCOMPARE(std::get<std::int64_t>(*replaced), std::int64_t {106});
    const Result<Number> root = evaluate(total.derivation(), {{total.derivation().get(), std::int64_t {1}}});
    QCOMPARE(std::get<std::int64_t>(*root), std::int64_t {1});
    // A step without value gets one from inputs that have it.
    const Quantity none = whole(1) + floorDivide(whole(9), a - a);
    QVERIFY(!none.ok());
    const Derivation difference = none.derivation()->operands[1]->operands[1];
    const Result<Number> mended = evaluate(none.derivation(), {{difference.get(), std::int64_t {3}}});
    QCOMPARE(std::get<std::int64_t>(*mended), std::int64_t {4});
}

void QuantityTest::inputsInOrderOfFirstUse()
{
    const Quantity a = whole(1, "a");
    const Quantity b = whole(2, "b");
    const Quantity c = whole(3, "c");
    const Quantity product = named(c * a, "product", Unit::None);
    const Quantity total = (b + product) * maximum(a, product) - minimum(b, constant(8));
    QStringList names;
    for (const Derivation& leaf : inputsOf(total.derivation()))
        names << QString::fromStdString(leaf->name);
    QCOMPARE(names, QStringList({"b", "c", "a", ""}));
    QCOMPARE(inputsOf(a.derivation()), std::vector<Derivation> {a.derivation()});
}

void QuantityTest::restsOnAnAssumption()
{
    const Quantity stated = whole(3, "stated");
    const Quantity assumed = input("assumed", std::int64_t {2}, Unit::None, Source {Source::Kind::Assumption});
    const Quantity total = named(stated * named(assumed + stated, "step", Unit::None), "total", Unit::None);
    QVERIFY(restsOnAssumption(total.derivation()));
    QVERIFY(restsOnAssumption(assumed.derivation()));
    const Quantity rule = named(stated + constant(1),
        Naming {"rule", Unit::None, std::make_shared<const Source>(Source {Source::Kind::EngineRule}), {}});
    QVERIFY(!restsOnAssumption(rule.derivation()));
    QVERIFY(
        !restsOnAssumption(input("x", std::int64_t {1}, Unit::None, std::shared_ptr<const Source> {}).derivation()));
}

void QuantityTest::naming()
{
    const Quantity a = whole(4, "a");
    const auto source = std::make_shared<const Source>(Source {Source::Kind::EngineRule, "engine 1"});
    const Quantity unnamed = a + constant(1);
    const Quantity step = named(unnamed, Naming {"step", Unit::Block, source, {"weights", "workspace"}});
    // The step itself gets the name: nothing is put around it, and the unnamed one stays as it was.
    QCOMPARE(step.derivation()->operation, Operation::Add);
    QCOMPARE(step.derivation()->operands, unnamed.derivation()->operands);
    QVERIFY(unnamed.name().empty());
    QCOMPARE(step.name(), std::string("step"));
    QCOMPARE(step.unit(), Unit::Block);
    QCOMPARE(step.derivation()->source, source);
    QCOMPARE(step.derivation()->excludes, std::vector<std::string>({"weights", "workspace"}));
    QCOMPARE(step.integer(), std::int64_t {5});
    // A named one and an input keep their names below.
    for (const Quantity& given : {step, a, constant(5)}) {
        const Quantity again = named(given, "again", Unit::Byte);
        QCOMPARE(again.derivation()->operation, Operation::Same);
        QCOMPARE(again.derivation()->operands, std::vector<Derivation> {given.derivation()});
        QCOMPARE(again.name(), std::string("again"));
        QCOMPARE(again.integer(), given.integer());
    }
    // A named step does not join the sum above it.
    const Quantity total = step + step;
    QCOMPARE(total.derivation()->operands.size(), std::size_t {2});
    QCOMPARE(QString::fromStdString(formulaInWords(total.derivation())), QStringLiteral("step + step"));
}

void QuantityTest::sumsOfNoneAndOne()
{
    const Quantity none = sum({});
    QCOMPARE(none.integer(), std::int64_t {0});
    QCOMPARE(formulaInNumbers(none.derivation()), std::string("0"));
    QCOMPARE(formulaInWords((whole(3, "a") * none).derivation()), std::string("a × 0"));
    const std::vector<Quantity> one {whole(7, "a")};
    QCOMPARE(sum(one).integer(), std::int64_t {7});
    QCOMPARE(minimum(std::span<const Quantity>(one)).integer(), std::int64_t {7});
    QCOMPARE(Quantity().integer(), std::int64_t {0});
    QCOMPARE(formulaInNumbers(Quantity().derivation()), std::string("0"));
}

void QuantityTest::sharedNodesAreVisitedOnce_data()
{
    QTest::addColumn<char>("symbol");
    for (const char symbol : {'+', '-', '*', 'f', 'c', '<', '>', '/', 's', 'S', 'M'})
        QTest::addRow("%c", symbol) << symbol;
}

/// 60 levels, each of which uses the one below twice: 2^60 paths, 62 nodes.
void QuantityTest::sharedNodesAreVisitedOnce()
{
    QFETCH(char, symbol);
    Recipe recipe;
    recipe.leaves = {std::int64_t {1}, std::int64_t {1}};
    recipe.constants = {false, false};
    for (std::size_t i = 0; i < 60; ++i)
        recipe.steps.push_back({symbol, i + 1, i + 1, 0});
    QElapsedTimer timer;
    timer.start();
    const Quantity top = recipe.build(recipe.leaves).back();
    QCOMPARE(worthOf(top), recipe.worths(recipe.leaves).back());
    QCOMPARE(worthOf(evaluate(top.derivation())), worthOf(top));
    QVERIFY(inputsOf(top.derivation()).size() <= 2);
    QVERIFY(!inputsOf(top.derivation()).empty());
    QVERIFY(!restsOnAssumption(top.derivation()));
    QVERIFY2(timer.elapsed() < 5'000, "shared nodes are visited again and again");
}

void QuantityTest::stableNames()
{
    std::set<std::string_view> names;
    for (int i = 0; i < 8; ++i) {
        const auto kind = static_cast<Source::Kind>(i);
        const std::optional<Source::Kind> back = sourceKindFromName(sourceKindName(kind));
        QVERIFY(back && *back == kind);
        names.insert(sourceKindName(kind));
    }
    QCOMPARE(names.size(), std::size_t {8});
    QVERIFY(!sourceKindFromName(""));
    QVERIFY(!sourceKindFromName("User"));
    names.clear();
    for (int i = 0; i < 12; ++i)
        names.insert(operationName(static_cast<Operation>(i)));
    QCOMPARE(names.size(), std::size_t {12});
    names.clear();
    for (int i = 0; i <= static_cast<int>(Unit::Ratio); ++i)
        names.insert(unitName(static_cast<Unit>(i)));
    QCOMPARE(names.size(), static_cast<std::size_t>(Unit::Ratio) + 1);
}

QTEST_APPLESS_MAIN(QuantityTest)
#include "tst_quantity.moc"
