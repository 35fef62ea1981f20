// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/generator.h"
#include "workload/sharing.h"

#include <QTest>

#include <map>
#include <random>
#include <set>

using namespace kvw;

namespace {

/// All prompt tokens less the number of different prefixes, token by token, by a set of whole prefixes.
std::int64_t naiveShareable(const Workload& workload, const std::vector<std::uint32_t>& domains)
{
    std::map<std::uint32_t, std::set<std::vector<TokenId>>> prefixes;
    std::int64_t tokens = 0;
    for (const Request& request : workload.requests) {
        const std::uint32_t domain = domains.empty() ? 0 : domains[request.tenant];
        std::vector<TokenId> prefix;
        for (std::int64_t i = 0; i < request.promptTokens(); ++i) {
            prefix.push_back(request.token(i));
            prefixes[domain].insert(prefix);
            ++tokens;
        }
    }
    for (const auto& [domain, known] : prefixes)
        tokens -= static_cast<std::int64_t>(known.size());
    return tokens;
}

Workload handMade(const std::vector<std::vector<TokenRun>>& prompts)
{
    Workload out;
    out.tenants = {"a"};
    for (const std::vector<TokenRun>& prompt : prompts) {
        Request request;
        request.id = static_cast<std::uint32_t>(out.requests.size());
        request.prompt = prompt;
        out.requests.push_back(request);
    }
    return out;
}

} // namespace

class TestSharing : public QObject
{
    Q_OBJECT

private slots:
    void commonTokens();
    void byHand();
    void againstSets();
    void histogram();
};

void TestSharing::commonTokens()
{
    // The same text in other runs is the same text.
    const std::vector<TokenRun> whole {{7, 0, 10}};
    const std::vector<TokenRun> parts {{7, 0, 4}, {7, 4, 3}, {9, 0, 5}};
    QCOMPARE(commonPromptTokens(whole, parts), 7);
    QCOMPARE(commonPromptTokens(parts, whole), 7);
    QCOMPARE(commonPromptTokens(whole, whole), 10);
    QCOMPARE(commonPromptTokens(whole, {}), 0);
    const std::vector<TokenRun> shifted {{7, 1, 10}};
    QCOMPARE(commonPromptTokens(whole, shifted), 0);
    const std::vector<TokenRun> withEmpty {{3, 0, 0}, {7, 0, 2}};
    QCOMPARE(commonPromptTokens(whole, withEmpty), 2);
}

void TestSharing::byHand()
{
    // 10 + 3, 10 + 5, 4: the second shares 10 with the first, the third 4 with either.
    const Workload workload = handMade({{{1, 0, 10}, {2, 0, 3}}, {{1, 0, 10}, {3, 0, 5}}, {{1, 0, 4}}});
    QCOMPARE(promptTokensOf(workload), 13 + 15 + 4);
    QCOMPARE(shareablePromptTokens(workload, {}), 14);
    QCOMPARE(shareablePromptTokens(handMade({{{1, 0, 10}}}), {}), 0);
    QCOMPARE(shareablePromptTokens(Workload {}, {}), 0);
}

void TestSharing::againstSets()
{
    std::mt19937 random(20261130);
    const auto upTo = [&](int most) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1)); };
    for (int round = 0; round < 40; ++round) {
        GeneratorSettings settings;
        settings.seed = random();
        settings.requests = 1 + upTo(24);
        settings.tenants = {"a", "b", "c"};
        settings.commonPrefixTokens = upTo(9);
        settings.sharedPrefixes = upTo(3);
        settings.sharedPrefixTokens = upTo(12);
        settings.promptTokensMin = 1;
        settings.promptTokensMax = 1 + upTo(8);
        Workload workload = generate(settings);
        // Now and then a request that repeats the start of another.
        for (Request& request : workload.requests) {
            const Request& other = workload.requests[random() % workload.requests.size()];
            if (upTo(3) == 0)
                request.prompt = other.prompt;
            if (upTo(3) == 0)
                request.prompt.back().count = 1 + static_cast<std::uint64_t>(upTo(5));
        }
        for (const std::vector<std::uint32_t>& domains :
            {std::vector<std::uint32_t> {}, {1, 2, 3}, {1, 1, 2}, {5, 5, 5}})
            QCOMPARE(shareablePromptTokens(workload, domains), naiveShareable(workload, domains));
    }
}

void TestSharing::histogram()
{
    const std::vector<std::int64_t> values {3, 3, 4, 17, 40};
    const Histogram fine = histogramOf(values, 100);
    QCOMPARE(fine.width, 1);
    QCOMPARE(fine.first, 3);
    QCOMPARE(fine.counts.size(), 38U);
    QCOMPARE(fine.counts[0], 2);
    const Histogram coarse = histogramOf(values, 5); // 37 wide: 10 a bin from 0
    QCOMPARE(coarse.width, 10);
    QCOMPARE(coarse.first, 0);
    QCOMPARE(coarse.counts, (std::vector<std::int64_t> {3, 1, 0, 0, 1}));
    QCOMPARE(coarse.least, 3);
    QCOMPARE(coarse.most, 40);
    QVERIFY(histogramOf({}, 5).counts.empty());
    QCOMPARE(histogramOf(std::vector<std::int64_t> {0, std::int64_t {1} << 40}, 4).width, 500'000'000'000);
}

QTEST_GUILESS_MAIN(TestSharing)
#include "tst_sharing.moc"
