// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/request.h"

#include <QSet>
#include <QTest>

#include <functional>
#include <limits>

using namespace kvw;

class RequestTest : public QObject
{
    Q_OBJECT
private slots:
    void runsFollowOneAnother();
    void spansEqualSingleTokens();
    void streamsShareNothing();
    void promptTokensDoNotWrap();
    void hashNamesEveryField();
    void hashFramesTexts();
};

namespace {

Request sample()
{
    Request request;
    request.prompt = {{7, 0, 5}, {9, 100, 0}, {7, 5, 3}, {8, 2, 4}};
    request.outputTokens = 6;
    request.outputStream = 21;
    return request;
}

Workload sampleWorkload()
{
    Workload workload;
    workload.name = "sample";
    workload.tenants = {"a", "b"};
    workload.requests = {sample(), sample()};
    workload.requests[1].id = 1;
    workload.requests[1].multimodal = {{"digest", 3, 4}};
    return workload;
}

} // namespace

void RequestTest::runsFollowOneAnother()
{
    const Request request = sample();
    QCOMPARE(request.promptTokens(), 12);
    for (std::int64_t i = 0; i < 8; ++i)
        QCOMPARE(request.token(i), streamToken(7, static_cast<std::uint64_t>(i))); // two runs that continue one another
    for (std::int64_t i = 0; i < 4; ++i)
        QCOMPARE(request.token(8 + i), streamToken(8, static_cast<std::uint64_t>(2 + i)));
    for (std::int64_t i = 0; i < 6; ++i)
        QCOMPARE(request.token(12 + i), streamToken(21, static_cast<std::uint64_t>(i)));
    QCOMPARE(Request().promptTokens(), 0);
    QCOMPARE(Request().token(0), streamToken(0, 0));
}

void RequestTest::spansEqualSingleTokens()
{
    const Request request = sample();
    for (std::int64_t first = 0; first <= 18; ++first) {
        for (std::int64_t count = 0; first + count <= 18; ++count) {
            std::vector<TokenId> tokens(static_cast<std::size_t>(count));
            request.tokens(first, tokens);
            for (std::int64_t i = 0; i < count; ++i)
                QCOMPARE(tokens[static_cast<std::size_t>(i)], request.token(first + i));
        }
    }
}

/// Of 2^16 tokens in 2^32 about half a pair would be equal by chance; a weak mix would show many.
void RequestTest::streamsShareNothing()
{
    QSet<TokenId> seen;
    int equal = 0;
    for (std::uint64_t stream = 0; stream < 64; ++stream) {
        for (std::uint64_t position = 0; position < 1024; ++position) {
            const TokenId token = streamToken(stream, position);
            equal += seen.contains(token);
            seen.insert(token);
        }
    }
    QVERIFY2(equal < 8, qPrintable(QString::number(equal)));
    QCOMPARE(streamToken(1, 2), streamToken(1, 2));
    // A stream is not another one shifted.
    for (std::uint64_t shift = 0; shift < 64; ++shift)
        QVERIFY(streamToken(1, shift) != streamToken(2, 0) || streamToken(1, shift + 1) != streamToken(2, 1));
}

void RequestTest::promptTokensDoNotWrap()
{
    const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
    Request request;
    request.prompt = {{1, 0, 5}, {2, 0, huge}};
    QCOMPARE(request.promptTokens(), std::numeric_limits<std::int64_t>::max());
    QCOMPARE(request.token(4), streamToken(1, 4));
    QCOMPARE(request.token(1'000'000'000'000), streamToken(2, 999'999'999'995));
}

void RequestTest::hashNamesEveryField()
{
    using Change = std::function<void(Workload&)>;
    const std::vector<Change> changes {
        [](Workload&) {},
        [](Workload& w) { w.name += "x"; },
        [](Workload& w) { w.tenants.push_back(""); },
        [](Workload& w) { w.tenants[0] = "c"; },
        [](Workload& w) { std::swap(w.tenants[0], w.tenants[1]); },
        [](Workload& w) { w.requests.pop_back(); },
        [](Workload& w) { std::swap(w.requests[0], w.requests[1]); },
        [](Workload& w) { w.requests[0].id = 9; },
        [](Workload& w) { w.requests[0].tenant = 1; },
        [](Workload& w) { w.requests[0].arrivalStep = 1; },
        [](Workload& w) { w.requests[0].prompt.pop_back(); },
        [](Workload& w) { w.requests[0].prompt[0].stream = 1; },
        [](Workload& w) { w.requests[0].prompt[0].offset = 1; },
        [](Workload& w) { w.requests[0].prompt[0].count = 1; },
        [](Workload& w) { w.requests[0].outputTokens = 1; },
        [](Workload& w) { w.requests[0].outputStream = 1; },
        [](Workload& w) { w.requests[0].samples = 2; },
        [](Workload& w) { w.requests[0].priority = -1; },
        [](Workload& w) { w.requests[0].adapter = "x"; },
        [](Workload& w) { w.requests[1].multimodal.clear(); },
        [](Workload& w) { w.requests[1].multimodal[0].digest = "x"; },
        [](Workload& w) { w.requests[1].multimodal[0].position = 1; },
        [](Workload& w) { w.requests[1].multimodal[0].tokens = 1; },
        [](Workload& w) { w.requests[0].cancelStep = 0; },
        [](Workload& w) { w.requests[0].cancelStep = 1; },
    };
    QSet<QString> hashes;
    for (const Change& change : changes) {
        Workload workload = sampleWorkload();
        change(workload);
        const QString hash = QString::fromStdString(workload.sha256());
        QCOMPARE(hash.size(), 64);
        QVERIFY2(!hashes.contains(hash), "a change left the hash as it was");
        hashes.insert(hash);
        QCOMPARE(QString::fromStdString(workload.sha256()), hash);
    }
}

void RequestTest::hashFramesTexts()
{
    Workload a;
    a.tenants = {"ab", "c"};
    Workload b;
    b.tenants = {"a", "bc"};
    Workload c;
    c.tenants = {"ab\ntenant 1:c"};
    QVERIFY(a.sha256() != b.sha256());
    QVERIFY(a.sha256() != c.sha256());
}

QTEST_APPLESS_MAIN(RequestTest)
#include "tst_request.moc"
