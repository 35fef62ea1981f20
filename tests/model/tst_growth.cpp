// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/growth.h"

#include <QTest>

#include <algorithm>
#include <deque>
#include <random>

using namespace kvw;

namespace {

__extension__ using Wide = __int128;

/// A cache that takes tokens one by one and keeps what its law says, as a program would: counters, a ring, a chunk that
/// is emptied. It divides nothing.
class NaiveCache
{
public:
    explicit NaiveCache(const GrowthLaw& law)
        : m_law(law)
    {
        for (std::int64_t i = 0; law.form == GrowthForm::Linear && i < law.offset; ++i)
            take();
        m_ignored = std::max<std::int64_t>(-law.offset, 0);
    }

    void token()
    {
        switch (m_law.form) {
        case GrowthForm::Fixed:
            m_kept.resize(static_cast<std::size_t>(m_law.entries));
            return;
        case GrowthForm::Chunked:
            if (static_cast<std::int64_t>(m_kept.size()) == m_law.chunk)
                m_kept.clear();
            m_kept.push_back({});
            return;
        case GrowthForm::Linear:
            break;
        }
        if (m_ignored > 0)
            --m_ignored;
        else
            take();
    }

    std::int64_t entries() const { return static_cast<std::int64_t>(m_kept.size()); }

private:
    /// One more of a stride: the entry appears with the last token of it, with the first, or when half of them are
    /// there.
    void take()
    {
        ++m_inStride;
        const bool ready = m_law.rounding == Rounding::Down ? m_inStride == m_law.stride
            : m_law.rounding == Rounding::Up                ? m_inStride == 1
                                                            : m_inStride + m_inStride >= m_law.stride;
        if (ready && !m_made) {
            m_made = true;
            m_kept.push_back({});
            if (m_law.limit && static_cast<std::int64_t>(m_kept.size()) > *m_law.limit)
                m_kept.pop_front();
        }
        if (m_inStride == m_law.stride) {
            m_inStride = 0;
            m_made = false;
        }
    }

    GrowthLaw m_law;
    std::deque<char> m_kept;
    std::int64_t m_ignored = 0;
    std::int64_t m_inStride = 0;
    bool m_made = false;
};

Quantity whole(const char* name, std::int64_t value)
{
    return input(name, value, Unit::None, Source {});
}

GrowthInputs inputsFor(const GrowthLaw& law)
{
    GrowthInputs out;
    out.entries = whole("entries", law.entries);
    out.offset = whole("offset", law.offset);
    out.stride = whole("stride", law.stride);
    out.chunk = whole("chunk", law.chunk);
    if (law.limit)
        out.limit = whole("limit", *law.limit);
    return out;
}

GrowthLaw randomLaw(std::mt19937_64& random)
{
    const auto within = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    GrowthLaw law;
    law.form = static_cast<GrowthForm>(random() % 3);
    law.rounding = static_cast<Rounding>(random() % 3);
    law.entries = within(0, 5);
    law.offset = random() % 2 == 0 ? 0 : within(-20, 20);
    law.stride = random() % 3 == 0 ? 1 : within(1, 11);
    if (random() % 2 == 0)
        law.limit = within(0, 40);
    law.chunk = within(1, 17);
    return law;
}

GrowthLaw linear(std::int64_t offset, std::int64_t stride, Rounding rounding, std::optional<std::int64_t> limit)
{
    GrowthLaw law;
    law.offset = offset;
    law.stride = stride;
    law.rounding = rounding;
    law.limit = limit;
    return law;
}

} // namespace

class GrowthTest : public QObject
{
    Q_OBJECT
private slots:
    void tokenByToken();
    void largeNumbers();
    void saturation();
    void formulasTakeOnlyWhatTheyNeed();
    void texts_data();
    void texts();
    void names();
};

void GrowthTest::tokenByToken()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 3'000; ++i) {
        const GrowthLaw law = randomLaw(random);
        const GrowthInputs inputs = inputsFor(law);
        const Quantity start = whole("v", 0);
        const Quantity formula = entriesAt(law, inputs, start);
        NaiveCache naive(law);
        for (std::int64_t v = 0; v <= 120; ++v) {
            if (v > 0)
                naive.token();
            const std::int64_t expected = naive.entries();
            // The formula built for one v, with another v in its place.
            const Result<Number> again = evaluate(formula.derivation(), {{start.derivation().get(), v}});
            const bool good = law.at(v) == expected && again && std::get<std::int64_t>(*again) == expected
                && (v % 40 != 7 || entriesAt(law, inputs, whole("v", v)).integer() == expected);
            QVERIFY2(good,
                qPrintable(QStringLiteral("%1 at %2: %3, kept %4")
                               .arg(QString::fromStdString(growthText(law)))
                               .arg(v)
                               .arg(law.at(v))
                               .arg(expected)));
        }
    }
}

/// Up to what a plan may state, 2^40 tokens, against fractions in 128 bits.
void GrowthTest::largeNumbers()
{
    std::mt19937_64 random(2);
    const auto upTo = [&](int bits) { return static_cast<std::int64_t>(random() >> (64 - bits)); };
    for (int i = 0; i < 20'000; ++i) {
        GrowthLaw law = randomLaw(random);
        law.form = GrowthForm::Linear;
        law.stride = upTo(static_cast<int>(random() % 40) + 1) + 1;
        law.offset = upTo(static_cast<int>(random() % 40) + 1) * (random() % 2 == 0 ? 1 : -1);
        if (law.limit)
            law.limit = upTo(40);
        const std::int64_t v = upTo(static_cast<int>(random() % 40) + 1);
        const Wide moved = std::max<Wide>(static_cast<Wide>(v) + law.offset, 0);
        // The largest number of entries that is not above the quotient, bit by bit; for halves in halves.
        const Wide numerator = law.rounding == Rounding::Down ? 2 * moved
            : law.rounding == Rounding::Up                    ? 2 * moved + 2 * (law.stride - 1)
                                                              : 2 * moved + law.stride;
        Wide entries = 0;
        for (Wide bit = Wide {1} << 60; bit > 0; bit >>= 1) {
            if ((entries + bit) * 2 * law.stride <= numerator)
                entries += bit;
        }
        if (law.limit)
            entries = std::min<Wide>(entries, *law.limit);
        QCOMPARE(law.at(v), static_cast<std::int64_t>(entries));
        const Quantity formula = entriesAt(law, inputsFor(law), whole("v", v));
        QVERIFY(formula.ok());
        QCOMPARE(formula.integer(), static_cast<std::int64_t>(entries));
    }
}

void GrowthTest::saturation()
{
    std::mt19937_64 random(3);
    int bounded = 0;
    for (int i = 0; i < 1'000; ++i) {
        const GrowthLaw law = randomLaw(random);
        NaiveCache naive(law);
        std::int64_t largest = 0;
        std::int64_t half = 0;
        for (std::int64_t v = 1; v <= 2'000; ++v) {
            naive.token();
            largest = std::max(largest, naive.entries());
            if (v == 1'000)
                half = largest;
        }
        const std::optional<std::int64_t> most = law.saturation();
        QCOMPARE(law.isUnbounded(), !most.has_value());
        QCOMPARE(largest > half, law.isUnbounded());
        if (most) {
            QCOMPARE(largest, *most);
            ++bounded;
        }
    }
    QVERIFY(bounded > 300 && bounded < 1'000);
}

void GrowthTest::formulasTakeOnlyWhatTheyNeed()
{
    const auto namesIn = [](const GrowthLaw& law) {
        QStringList out;
        for (const Derivation& leaf : inputsOf(entriesAt(law, inputsFor(law), whole("v", 50)).derivation())) {
            if (!leaf->name.empty())
                out << QString::fromStdString(leaf->name);
        }
        out.sort();
        return out;
    };
    GrowthLaw fixed;
    fixed.form = GrowthForm::Fixed;
    GrowthLaw chunked;
    chunked.form = GrowthForm::Chunked;
    QCOMPARE(namesIn(linear(0, 1, Rounding::Down, {})), QStringList({"v"}));
    QCOMPARE(namesIn(linear(3, 1, Rounding::Down, {})), QStringList({"offset", "v"}));
    QCOMPARE(namesIn(linear(-3, 1, Rounding::Down, {})), QStringList({"offset", "v"}));
    QCOMPARE(namesIn(linear(0, 4, Rounding::Up, {})), QStringList({"stride", "v"}));
    QCOMPARE(namesIn(linear(0, 1, Rounding::Down, 128)), QStringList({"limit", "v"}));
    QCOMPARE(namesIn(linear(1, 4, Rounding::Nearest, 128)), QStringList({"limit", "offset", "stride", "v"}));
    QCOMPARE(namesIn(fixed), QStringList({"entries", "v"}));
    QCOMPARE(namesIn(chunked), QStringList({"chunk", "v"}));
}

void GrowthTest::texts_data()
{
    QTest::addColumn<QString>("found");
    QTest::addColumn<QString>("text");
    const auto row = [](const char* text, const GrowthLaw& law) {
        QTest::newRow(text) << QString::fromStdString(growthText(law)) << QString::fromUtf8(text);
    };
    row("v", {});
    row("min(v, 128)", linear(0, 1, Rounding::Down, 128));
    row("v + 3", linear(3, 1, Rounding::Up, {}));
    row("max(v − 3, 0)", linear(-3, 1, Rounding::Down, {}));
    row("⌊v ÷ 4⌋", linear(0, 4, Rounding::Down, {}));
    row("⌈v ÷ 4⌉", linear(0, 4, Rounding::Up, {}));
    row("round(v ÷ 4)", linear(0, 4, Rounding::Nearest, {}));
    row("⌊(v + 3) ÷ 4⌋", linear(3, 4, Rounding::Down, {}));
    row("⌈(v + 3) ÷ 4⌉", linear(3, 4, Rounding::Up, {}));
    row("min(⌈max(v − 128, 0) ÷ 4⌉, 512)", linear(-128, 4, Rounding::Up, 512));
    GrowthLaw law;
    law.form = GrowthForm::Chunked;
    law.chunk = 8192;
    row("((v − 1) mod 8192) + 1", law);
    law.form = GrowthForm::Fixed;
    law.entries = 4;
    row("4 (fixed)", law);
    law = {};
    law.variable = GrowthVariable::EncoderTokens;
    row("e", law);
    law.variable = GrowthVariable::ImageTokens;
    law.limit = 9;
    row("min(i, 9)", law);
}

void GrowthTest::texts()
{
    QFETCH(QString, found);
    QFETCH(QString, text);
    QCOMPARE(found, text);
}

void GrowthTest::names()
{
    const auto list = [](std::span<const std::string_view> names) {
        QStringList out;
        for (const std::string_view name : names)
            out << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
        return out;
    };
    QCOMPARE(list(growthFormNames()), QStringList({"fixed", "linear", "chunked"}));
    QCOMPARE(list(growthVariableNames()), QStringList({"tokens", "encoder_tokens", "image_tokens"}));
    QCOMPARE(list(roundingNames()), QStringList({"down", "up", "nearest"}));
}

QTEST_APPLESS_MAIN(GrowthTest)
#include "tst_growth.moc"
