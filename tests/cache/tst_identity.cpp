// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/identity.h"
#include "cache/key_chain.h"

#include <QTest>

#include <numeric>
#include <set>

using namespace kvw;

namespace {

/// Everything that enters the identity of a block, with the names that a planner gives it.
struct Prompt
{
    std::string model = "model";
    std::string tokenizer = "tokenizer";
    std::string adapter;
    SharingDomain domain;
    std::vector<TokenId> tokens;
    std::vector<MultimodalItem> multimodal;

    Prompt()
    {
        tokens.resize(32);
        std::iota(tokens.begin(), tokens.end(), 1000U);
    }
};

/// Identities of the two blocks of 16 tokens.
std::pair<BlockKey, BlockKey> keysOf(const Prompt& prompt)
{
    CacheBehaviour behaviour;
    behaviour.modelRevision = prompt.model;
    behaviour.tokenizerRevision = prompt.tokenizer;
    const BlockKey root = rootKey(behaviour, prompt.domain, prompt.adapter);
    const std::span<const TokenId> tokens(prompt.tokens);
    const BlockKey first = nextKey(root, tokens.first(16), 0, prompt.multimodal);
    return {first, nextKey(first, tokens.subspan(16), 16, prompt.multimodal)};
}

Prompt withDomain(SharingDomain domain)
{
    Prompt prompt;
    prompt.domain = std::move(domain);
    return prompt;
}

Prompt withItems(std::vector<MultimodalItem> items)
{
    Prompt prompt;
    prompt.multimodal = std::move(items);
    return prompt;
}

/// Prompts that a reader would take for the same one; each differs from the first in one thing.
std::vector<std::pair<const char*, Prompt>> nearlyIdentical()
{
    std::vector<std::pair<const char*, Prompt>> out {{"as it is", Prompt()}};
    const auto with = [&](const char* name, auto change) {
        Prompt prompt;
        change(prompt);
        out.emplace_back(name, prompt);
    };
    with("first token", [](Prompt& p) { ++p.tokens[0]; });
    with("last token of the first block", [](Prompt& p) { ++p.tokens[15]; });
    with("two tokens exchanged", [](Prompt& p) { std::swap(p.tokens[3], p.tokens[4]); });
    with("model revision", [](Prompt& p) { p.model = "model2"; });
    with("no model revision", [](Prompt& p) { p.model = ""; });
    with("tokenizer revision", [](Prompt& p) { p.tokenizer = "tokenizer2"; });
    with("revisions exchanged", [](Prompt& p) { std::swap(p.model, p.tokenizer); });
    with("adapter", [](Prompt& p) { p.adapter = "a"; });
    with("other adapter", [](Prompt& p) { p.adapter = "b"; });
    with("adapter named as the model", [](Prompt& p) { p.adapter = "model"; });
    out.emplace_back("domain \"0\"", withDomain({1, "0"}));
    out.emplace_back("domain with an empty key", withDomain({1, ""}));
    out.emplace_back("domain named as the adapter", withDomain({2, "a"}));
    out.emplace_back("item", withItems({{"image", 4, 8}}));
    out.emplace_back("item with another digest", withItems({{"Image", 4, 8}}));
    out.emplace_back("item with an empty digest", withItems({{"", 4, 8}}));
    out.emplace_back("item one token later", withItems({{"image", 5, 8}}));
    out.emplace_back("item twice", withItems({{"image", 4, 8}, {"image", 4, 8}}));
    out.emplace_back("digest that begins in the item before", withItems({{"ab", 0, 16}, {"c", 0, 16}}));
    out.emplace_back("the same letters cut elsewhere", withItems({{"a", 0, 16}, {"bc", 0, 16}}));
    return out;
}

} // namespace

class IdentityTest : public QObject
{
    Q_OBJECT
private slots:
    void nearlyIdenticalPromptsDiffer();
    void equalPromptsAreEqual();
    void framesEachField();
    void itemsCountOnlyWhereTheyLie();
    void overlapsAtTheEdges();
    void chainIsTheKeysOfItsBlocks();
    void chainKnowsItsRequest();
};

void IdentityTest::nearlyIdenticalPromptsDiffer()
{
    std::set<BlockKey> firsts;
    std::set<BlockKey> seconds;
    for (const auto& [name, prompt] : nearlyIdentical()) {
        const auto [first, second] = keysOf(prompt);
        QVERIFY2(firsts.insert(first).second, name);
        // What separates the first block separates all later ones, though their own tokens are the same.
        QVERIFY2(seconds.insert(second).second, name);
    }
}

void IdentityTest::equalPromptsAreEqual()
{
    for (const auto& [name, prompt] : nearlyIdentical()) {
        const Prompt copy = prompt;
        QVERIFY2(keysOf(copy) == keysOf(prompt), name);
    }
    // The public domain is the absent one.
    QVERIFY(keysOf(withDomain({0, ""})) == keysOf(Prompt()));
    // Who resolved a key does not matter, only the key.
    QVERIFY(keysOf(withDomain({1, "k"})) == keysOf(withDomain({2, "k"})));
}

void IdentityTest::framesEachField()
{
    CacheBehaviour a;
    a.modelRevision = "ab";
    a.tokenizerRevision = "c";
    CacheBehaviour b;
    b.modelRevision = "a";
    b.tokenizerRevision = "bc";
    QVERIFY(rootKey(a, {}, "") != rootKey(b, {}, ""));
    QVERIFY(rootKey(a, {1, "x"}, "") != rootKey(a, {}, "x"));
    QVERIFY(rootKey(a, {1, "yx"}, "x") != rootKey(a, {1, "x"}, "xy"));
    // Tokens are four bytes each: two of them are not one with other bytes, and a block of none is not the parent.
    const std::vector<TokenId> two {1, 0};
    const std::vector<TokenId> one {1};
    const BlockKey root = rootKey(a, {}, "");
    QVERIFY(nextKey(root, two, 0, {}) != nextKey(root, one, 0, {}));
    QVERIFY(nextKey(root, {}, 0, {}) != root);
    // An item cannot pass for tokens.
    const std::vector<MultimodalItem> item {{std::string("\1\0\0\0", 4), 0, 1}};
    QVERIFY(nextKey(root, one, 0, item) != nextKey(root, one, 0, {}));
    QVERIFY(nextKey(root, one, 0, item) != nextKey(root, two, 0, {}));
}

void IdentityTest::itemsCountOnlyWhereTheyLie()
{
    const auto plain = keysOf(Prompt());
    const auto inSecond = keysOf(withItems({{"image", 16, 4}}));
    QVERIFY(inSecond.first == plain.first);
    QVERIFY(inSecond.second != plain.second);
    // Where it begins matters in every block that it reaches, as an offset from the block.
    QVERIFY(keysOf(withItems({{"image", 8, 12}})).second != keysOf(withItems({{"image", 9, 11}})).second);
    // Its length only as far as blocks are covered.
    QVERIFY(keysOf(withItems({{"image", 4, 8}})) == keysOf(withItems({{"image", 4, 12}})));
    QVERIFY(keysOf(withItems({{"image", 4, 8}})) != keysOf(withItems({{"image", 4, 13}})));
    QVERIFY(keysOf(withItems({{"image", 32, 8}})) == plain);
    QVERIFY(keysOf(withItems({{"image", 4, 0}})) == plain);
}

void IdentityTest::overlapsAtTheEdges()
{
    const std::uint64_t far = std::numeric_limits<std::uint64_t>::max();
    QVERIFY(overlaps({"", 0, far}, 16, 16));
    QVERIFY(overlaps({"", 31, far}, 16, 16));
    QVERIFY(!overlaps({"", 32, far}, 16, 16));
    QVERIFY(!overlaps({"", far, far}, 16, 16));
    QVERIFY(overlaps({"", 15, 2}, 16, 16));
    QVERIFY(!overlaps({"", 15, 1}, 16, 16));
    QVERIFY(!overlaps({"", 16, 0}, 16, 16));
    QVERIFY(!overlaps({"", 16, 1}, 16, 0));
}

void IdentityTest::chainIsTheKeysOfItsBlocks()
{
    Request request;
    for (std::uint64_t run = 0; run < 700; ++run)
        request.prompt.push_back({run % 5, run, 1 + run % 17});
    request.adapter = "adapter";
    request.multimodal = {{"image", 100, 3000}};
    const SharingDomain domain {3, "salt"};
    const std::int64_t total = request.promptTokens();
    std::vector<TokenId> tokens(static_cast<std::size_t>(total));
    request.tokens(0, tokens);
    std::vector<TokenId> buffer;
    TokenReader reader(request, total, buffer);
    KeyChain chain(request, domain, {}, 2);
    for (std::size_t size = 0; size < 2; ++size) {
        const std::int64_t blockTokens = size == 0 ? 16 : 24;
        BlockKey key = rootKey({}, domain, request.adapter);
        for (std::int64_t n = 0; (n + 1) * blockTokens <= total; ++n) {
            const auto block = std::span<const TokenId>(tokens).subspan(
                static_cast<std::size_t>(n * blockTokens), static_cast<std::size_t>(blockTokens));
            key = nextKey(key, block, n * blockTokens, request.multimodal);
            QVERIFY(chain.at(reader, size, blockTokens, n).key == key);
        }
    }
    // The content is the same whoever may use it.
    KeyChain other(request, {4, "other"}, {}, 2);
    TokenReader again(request, total, buffer);
    QVERIFY(other.at(again, 0, 16, 9).key != chain.at(again, 0, 16, 9).key);
    QVERIFY(other.at(again, 0, 16, 9).content == chain.at(again, 0, 16, 9).content);
}

void IdentityTest::chainKnowsItsRequest()
{
    Request request;
    request.prompt = {{1, 0, 64}};
    const SharingDomain domain {3, "salt"};
    const KeyChain chain(request, domain, {}, 1);
    QVERIFY(!KeyChain().isOf(request, domain));
    QVERIFY(chain.isOf(request, domain));
    QVERIFY(!chain.isOf(request, {3, "other"}));
    Request other = request;
    other.prompt[0].stream = 2;
    QVERIFY(!chain.isOf(other, domain));
    other = request;
    other.adapter = "x";
    QVERIFY(!chain.isOf(other, domain));
    other = request;
    other.multimodal = {{"image", 0, 1}};
    QVERIFY(!chain.isOf(other, domain));
    other = request;
    other.outputStream = 9;
    QVERIFY(!chain.isOf(other, domain));
    other = request;
    other.id = 77;
    QVERIFY(chain.isOf(other, domain));
}

QTEST_APPLESS_MAIN(IdentityTest)
#include "tst_identity.moc"
