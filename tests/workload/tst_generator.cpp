// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/admission.h"
#include "workload/generator.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace kvw;

namespace {

GeneratorSettings mixed()
{
    GeneratorSettings out;
    out.name = "mixed";
    out.seed = 7;
    out.requests = 64;
    out.tenants = {"acme", "birch", "cedar"};
    out.commonPrefixTokens = 256;
    out.sharedPrefixes = 3;
    out.sharedPrefixTokens = 1536;
    out.promptTokensMin = 500;
    out.promptTokensMax = 2'000;
    out.outputTokensMin = 64;
    out.outputTokensMax = 512;
    out.burstRequests = 8;
    out.burstGapSteps = 40;
    return out;
}

std::vector<TokenId> promptOf(const Request& request)
{
    std::vector<TokenId> out(static_cast<std::size_t>(request.promptTokens()));
    request.tokens(0, out);
    return out;
}

std::size_t commonLength(const std::vector<TokenId>& a, const std::vector<TokenId>& b)
{
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    return static_cast<std::size_t>(end - a.begin());
}

GeneratorSettings randomSettings(std::mt19937_64& random)
{
    const auto upTo = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    GeneratorSettings out;
    out.seed = random();
    out.requests = upTo(100) + 1;
    for (std::int64_t i = upTo(4); i >= 0; --i)
        out.tenants.push_back("tenant" + std::to_string(i));
    out.commonPrefixTokens = upTo(2) * upTo(50);
    out.sharedPrefixes = upTo(4);
    out.sharedPrefixTokens = upTo(2) * upTo(50);
    out.promptTokensMin = upTo(30) + 1;
    out.promptTokensMax = out.promptTokensMin + upTo(30);
    out.outputTokensMin = upTo(30) + 1;
    out.outputTokensMax = out.outputTokensMin + upTo(30);
    out.burstRequests = upTo(9) + 1;
    out.burstGapSteps = upTo(9) + 1;
    return out;
}

} // namespace

class GeneratorTest : public QObject
{
    Q_OBJECT
private slots:
    void theSameEverywhere();
    void everySettingMatters();
    void prefixesByTheirTokens();
    void lengthsBurstsAndTurns();
    void lengthsReachBothEnds();
    void outputsAreNobodyElses();
    void otherSeedsShareNoText();
    void admissionNames();
};

/// The same settings give the same requests. The digest, computed once by another program from the generator's and the
/// digest's description, keeps it so over versions and machines.
void GeneratorTest::theSameEverywhere()
{
    const Workload first = generate(mixed());
    const Workload second = generate(mixed());
    QVERIFY(first.requests == second.requests);
    QCOMPARE(first.sha256(), second.sha256());
    QCOMPARE(first.sha256(), std::string("ebbaac786b93415c8c064dbf6b77e425a06a9b0f14b92ec3c4f38ded430d67a9"));
    // A longer run begins like a shorter one.
    GeneratorSettings longer = mixed();
    longer.requests = 100;
    const Workload more = generate(longer);
    QVERIFY(std::equal(first.requests.begin(), first.requests.end(), more.requests.begin()));
}

void GeneratorTest::everySettingMatters()
{
    std::set<std::string> hashes {generate(mixed()).sha256()};
    const auto with = [&](auto change) {
        GeneratorSettings settings = mixed();
        change(settings);
        return hashes.insert(generate(settings).sha256()).second;
    };
    QVERIFY(with([](GeneratorSettings& s) { s.name = "other"; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.seed; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.requests; }));
    QVERIFY(with([](GeneratorSettings& s) { s.tenants[1] = "other"; }));
    QVERIFY(with([](GeneratorSettings& s) { s.tenants.pop_back(); }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.commonPrefixTokens; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.sharedPrefixes; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.sharedPrefixTokens; }));
    QVERIFY(with([](GeneratorSettings& s) { --s.promptTokensMin; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.promptTokensMax; }));
    QVERIFY(with([](GeneratorSettings& s) { --s.outputTokensMin; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.outputTokensMax; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.burstRequests; }));
    QVERIFY(with([](GeneratorSettings& s) { ++s.burstGapSteps; }));
}

/// Two prompts agree in the common prefix, in the shared one if both drew the same, and in nothing after it.
void GeneratorTest::prefixesByTheirTokens()
{
    const GeneratorSettings settings = mixed();
    const Workload workload = generate(settings);
    std::vector<std::vector<TokenId>> prompts;
    for (const Request& request : workload.requests)
        prompts.push_back(promptOf(request));
    const auto common = static_cast<std::size_t>(settings.commonPrefixTokens);
    const std::size_t shared = common + static_cast<std::size_t>(settings.sharedPrefixTokens);
    std::map<std::vector<TokenId>, std::set<int>> tenantsOf; // by shared prefix
    int same = 0;
    int different = 0;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const std::vector<TokenId> prefix(prompts[i].begin(), prompts[i].begin() + static_cast<std::ptrdiff_t>(shared));
        tenantsOf[prefix].insert(workload.requests[i].tenant);
        for (std::size_t k = 0; k < i; ++k) {
            const std::size_t length = commonLength(prompts[i], prompts[k]);
            QVERIFY2(length == common || length == shared, qPrintable(QString::number(length)));
            (length == shared ? same : different) += 1;
        }
    }
    QCOMPARE(tenantsOf.size(), std::size_t {3}); // as many as prefixes
    for (const auto& [prefix, tenants] : tenantsOf)
        QCOMPARE(tenants.size(), std::size_t {3}); // all tenants use all of them
    QVERIFY(same > 0 && different > 0);
    // The second halves share nothing either: every private token is drawn anew.
    std::set<TokenId> tokens;
    std::size_t privateTokens = 0;
    for (const std::vector<TokenId>& prompt : prompts) {
        tokens.insert(prompt.begin() + static_cast<std::ptrdiff_t>(shared), prompt.end());
        privateTokens += prompt.size() - shared;
    }
    QVERIFY(privateTokens - tokens.size() < 20); // chance alone: n² ÷ 2^33
}

void GeneratorTest::lengthsBurstsAndTurns()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 500; ++i) {
        const GeneratorSettings settings = randomSettings(random);
        const Workload workload = generate(settings);
        QVERIFY(workload.tenants == settings.tenants);
        QCOMPARE(static_cast<std::int64_t>(workload.requests.size()), settings.requests);
        const bool prefixed = settings.sharedPrefixes > 0;
        const std::int64_t prefix = settings.commonPrefixTokens + (prefixed ? settings.sharedPrefixTokens : 0);
        std::int64_t step = 0;
        std::int64_t inBurst = 0;
        std::size_t tenant = 0;
        std::uint32_t id = 0;
        for (const Request& request : workload.requests) {
            QCOMPARE(request.id, id++);
            QCOMPARE(std::size_t {request.tenant}, tenant);
            tenant = tenant + 1 == settings.tenants.size() ? 0 : tenant + 1;
            QCOMPARE(request.arrivalStep, step);
            if (++inBurst == settings.burstRequests) {
                inBurst = 0;
                step += settings.burstGapSteps;
            }
            const std::int64_t own = request.promptTokens() - prefix;
            QVERIFY(own >= settings.promptTokensMin && own <= settings.promptTokensMax);
            QVERIFY(
                request.outputTokens >= settings.outputTokensMin && request.outputTokens <= settings.outputTokensMax);
            for (const TokenRun& run : request.prompt)
                QVERIFY(run.count > 0);
            QVERIFY(request.samples == 1 && request.adapter.empty() && request.multimodal.empty());
            QVERIFY(!request.cancelStep);
        }
    }
}

void GeneratorTest::lengthsReachBothEnds()
{
    GeneratorSettings settings = mixed();
    settings.requests = 4'000;
    settings.promptTokensMin = 5;
    settings.promptTokensMax = 14;
    settings.outputTokensMin = 1;
    settings.outputTokensMax = 4;
    settings.commonPrefixTokens = 0;
    settings.sharedPrefixes = 0;
    std::map<std::int64_t, int> prompts;
    std::map<std::int64_t, int> outputs;
    for (const Request& request : generate(settings).requests) {
        ++prompts[request.promptTokens()];
        ++outputs[request.outputTokens];
    }
    QCOMPARE(prompts.size(), std::size_t {10});
    QVERIFY(prompts.contains(5) && prompts.contains(14));
    for (const auto& [length, count] : prompts) // 400 each, six standard deviations
        QVERIFY2(count > 286 && count < 514, qPrintable(QString::number(count)));
    QCOMPARE(outputs.size(), std::size_t {4});
    for (const auto& [length, count] : outputs)
        QVERIFY2(count > 836 && count < 1'164, qPrintable(QString::number(count)));
}

/// No output stream is a prompt's or another output's, so that generated text is never found as a prefix by accident.
void GeneratorTest::outputsAreNobodyElses()
{
    std::mt19937_64 random(2);
    for (int i = 0; i < 200; ++i) {
        const Workload workload = generate(randomSettings(random));
        std::set<std::uint64_t> prefixes;
        std::set<std::uint64_t> own;
        for (const Request& request : workload.requests) {
            for (std::size_t k = 0; k < request.prompt.size(); ++k) {
                QCOMPARE(request.prompt[k].offset, std::uint64_t {0});
                if (k + 1 < request.prompt.size())
                    prefixes.insert(request.prompt[k].stream);
                else
                    QVERIFY(own.insert(request.prompt[k].stream).second);
            }
            QVERIFY(own.insert(request.outputStream).second);
        }
        for (const std::uint64_t stream : own)
            QVERIFY(!prefixes.contains(stream));
    }
}

void GeneratorTest::otherSeedsShareNoText()
{
    std::set<std::uint64_t> streams;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        GeneratorSettings settings = mixed();
        settings.seed = seed;
        std::set<std::uint64_t> used;
        for (const Request& request : generate(settings).requests) {
            used.insert(request.outputStream);
            for (const TokenRun& run : request.prompt)
                used.insert(run.stream);
        }
        for (const std::uint64_t stream : used)
            QVERIFY(streams.insert(stream).second);
    }
}

void GeneratorTest::admissionNames()
{
    const auto list = [](std::span<const std::string_view> names) {
        QStringList out;
        for (const std::string_view name : names)
            out << QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
        return out;
    };
    QCOMPARE(list(whenExhaustedNames()), QStringList({"", "wait", "reject", "preempt_recompute"}));
    QCOMPARE(list(reservationNames()), QStringList({"", "on_demand", "full_output"}));
    QCOMPARE(whenExhaustedNames().size(), static_cast<std::size_t>(WhenExhausted::PreemptRecompute) + 1);
    QCOMPARE(reservationNames().size(), static_cast<std::size_t>(Reservation::FullOutput) + 1);
}

QTEST_APPLESS_MAIN(GeneratorTest)
#include "tst_generator.moc"
