// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/layer_group.h"
#include "model/model_spec.h"

#include <QTest>

#include <random>
#include <set>

using namespace kvw;

namespace {

/// The numbers of a range text, read with Qt's string functions.
QList<qint64> expanded(const QString& text)
{
    QList<qint64> out;
    for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
        const QStringList stepped = part.split(':');
        const QStringList ends = stepped[0].split('-');
        const qint64 step = stepped.size() > 1 ? stepped[1].toLongLong() : 1;
        for (qint64 i = ends.first().toLongLong(); i <= ends.last().toLongLong(); i += step)
            out << i;
    }
    return out;
}

StateTensor tensor(GrowthForm form, std::optional<std::int64_t> limit)
{
    StateTensor out;
    out.growth.form = form;
    out.growth.limit = limit;
    return out;
}

std::optional<std::int64_t> limitOf(std::vector<StateTensor> tensors)
{
    LayerGroup group;
    group.tensors = std::move(tensors);
    return group.retentionLimit();
}

} // namespace

class LayerGroupTest : public QObject
{
    Q_OBJECT
private slots:
    void rangesRoundTrip();
    void ranges_data();
    void ranges();
    void badRanges_data();
    void badRanges();
    void tenThousandLayers();
    void retentionLimit();
    void presets();
    void names();
    void provenance();
};

void LayerGroupTest::rangesRoundTrip()
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 5'000; ++i) {
        std::set<std::int64_t> layers;
        for (std::uint64_t runs = random() % 6; runs > 0; --runs) {
            const auto first = static_cast<std::int64_t>(random() % 300);
            const auto step = static_cast<std::int64_t>(random() % 4 + 1);
            for (std::int64_t k = 0; k < static_cast<std::int64_t>(random() % 20); ++k)
                layers.insert(first + k * step);
        }
        const std::vector<std::int64_t> list(layers.begin(), layers.end());
        const std::string text = layerRanges(list);
        const Result<std::vector<std::int64_t>> parsed = parseLayerRanges(text);
        QVERIFY2(parsed, text.c_str());
        QVERIFY2(*parsed == list, text.c_str());
        QVERIFY2(expanded(QString::fromStdString(text)) == QList<qint64>(list.begin(), list.end()), text.c_str());
    }
}

void LayerGroupTest::ranges_data()
{
    QTest::addColumn<QList<qint64>>("layers");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << QList<qint64> {} << "";
    QTest::newRow("one") << QList<qint64> {7} << "7";
    QTest::newRow("a pair") << QList<qint64> {3, 4} << "3-4";
    QTest::newRow("a pair with a gap") << QList<qint64> {3, 5} << "3,5";
    QTest::newRow("a run") << QList<qint64> {0, 1, 2, 3} << "0-3";
    QTest::newRow("every other") << QList<qint64> {0, 2, 4, 6, 7} << "0-6:2,7";
    QTest::newRow("every sixth and the rest") << QList<qint64> {5, 11, 17, 18, 19} << "5-17:6,18-19";
}

void LayerGroupTest::ranges()
{
    QFETCH(QList<qint64>, layers);
    QFETCH(QString, text);
    const std::vector<std::int64_t> list(layers.begin(), layers.end());
    QCOMPARE(QString::fromStdString(layerRanges(list)), text);
    QVERIFY(*parseLayerRanges(text.toStdString()) == list);
}

void LayerGroupTest::badRanges_data()
{
    QTest::addColumn<QString>("text");
    for (const char* text : {",", "1,", ",1", "1,,2", "-1", "1-", "-", "5-3", "1-5:0", "1-5:-1", "1-5:", ":2", "1:2",
             "1-5:2:3", "1-2-3", "a", "1a", "1 ", " 1", "1, 2", "1;2", "1-x", "2,1", "1,1", "1-5,5", "0-10:5,10",
             "10000", "0-10000", "99999999999999999999", "1-99999999999999999999", "0x1", "1.5", "+1", "1\n"})
        QTest::addRow("\"%s\"", text) << QString::fromUtf8(text);
}

void LayerGroupTest::badRanges()
{
    QFETCH(QString, text);
    const Result<std::vector<std::int64_t>> parsed = parseLayerRanges(text.toStdString());
    QVERIFY(!parsed);
    QCOMPARE(parsed.error().code, std::string("layers.syntax"));
    QCOMPARE(QString::fromStdString(parsed.error().found), QStringLiteral("\"%1\"").arg(text));
    QVERIFY(!parsed.error().message.empty() && !parsed.error().expected.empty());
}

void LayerGroupTest::tenThousandLayers()
{
    const Result<std::vector<std::int64_t>> all = parseLayerRanges("0-9999");
    QVERIFY(all);
    QCOMPARE(all->size(), std::size_t {10'000});
    QCOMPARE(all->back(), std::int64_t {9'999});
    // A range that ends short of its end, and one of a single layer.
    QVERIFY(*parseLayerRanges("0-9:4") == std::vector<std::int64_t>({0, 4, 8}));
    QVERIFY(*parseLayerRanges("5-5") == std::vector<std::int64_t>({5}));
}

void LayerGroupTest::retentionLimit()
{
    const auto windowed = [](std::int64_t limit) { return tensor(GrowthForm::Linear, limit); };
    const StateTensor growing = tensor(GrowthForm::Linear, std::nullopt);
    const StateTensor fixed = tensor(GrowthForm::Fixed, std::nullopt);
    QVERIFY(limitOf({}) == std::nullopt);
    QVERIFY(limitOf({growing, growing}) == std::nullopt);
    QVERIFY(limitOf({windowed(128), windowed(128)}) == 128);
    QVERIFY(limitOf({windowed(128), windowed(256)}) == std::nullopt);
    QVERIFY(limitOf({windowed(128), growing}) == std::nullopt);
    QVERIFY(limitOf({growing, windowed(128)}) == std::nullopt);
    QVERIFY(limitOf({windowed(128), fixed}) == 128); // what does not grow has no say
    QVERIFY(limitOf({fixed}) == std::nullopt);
}

void LayerGroupTest::presets()
{
    GrowthLaw window;
    window.limit = 4096;
    const std::vector<StateTensor> attention = attentionTensors(8, 128, 64, window);
    QCOMPARE(attention.size(), std::size_t {2});
    for (const StateTensor& part : attention) {
        QCOMPARE(part.heads, std::int64_t {8});
        QVERIFY(part.growth == window);
        QVERIFY(part.shard == ShardRule::Heads);
        QVERIFY(part.elementType == ElementType::NotStated);
    }
    QVERIFY(attention[0].id == "k" && attention[0].role == TensorRole::Key && attention[0].width == 128);
    QVERIFY(attention[1].id == "v" && attention[1].role == TensorRole::Value && attention[1].width == 64);
    const std::vector<StateTensor> latent = latentTensors(512, 64);
    QCOMPARE(latent.size(), std::size_t {2});
    for (const StateTensor& part : latent)
        QVERIFY(part.heads == 1 && part.shard == ShardRule::Replicated && part.growth == GrowthLaw {});
    QVERIFY(latent[0].role == TensorRole::Latent && latent[0].width == 512);
    QVERIFY(latent[1].role == TensorRole::PositionalKey && latent[1].width == 64);
    QVERIFY(latent[0].id != latent[1].id);
}

/// Names of choices are found by value: as many as enumerators, each once.
void LayerGroupTest::names()
{
    const auto check = [](std::span<const std::string_view> names, std::size_t last) {
        const std::set<std::string_view> each(names.begin(), names.end());
        return names.size() == last + 1 && each.size() == names.size() && !each.contains("");
    };
    QVERIFY(check(tensorRoleNames(), static_cast<std::size_t>(TensorRole::Buffer)));
    QVERIFY(check(shardRuleNames(), static_cast<std::size_t>(ShardRule::Replicated)));
    QVERIFY(check(layerKindNames(), static_cast<std::size_t>(LayerKind::Shared)));
    QVERIFY(check(tierNames(), static_cast<std::size_t>(Tier::Host)));
    QVERIFY(layerKindNames()[static_cast<std::size_t>(LayerKind::Shared)] == "shared");
    QVERIFY(tensorRoleNames()[static_cast<std::size_t>(TensorRole::PositionalKey)] == "positional_key");
}

void LayerGroupTest::provenance()
{
    Provenance model;
    for (const char* path : {"groups.full", "groups.full.layers", "groups.full.tensors.k.heads", "groups.full2.layers",
             "groups.ful", "dtype"})
        model.set(path, Source {Source::Kind::File, path});
    Provenance plan;
    plan.adopt(model, "worksheet.");
    QCOMPARE(plan.entries().size(), std::size_t {6});
    QCOMPARE(plan.find("worksheet.groups.full.layers")->name, std::string("groups.full.layers"));
    QVERIFY(!plan.find("groups.full.layers"));
    plan.removeBelow("worksheet.groups.full");
    QStringList left;
    for (const auto& [path, source] : plan.entries())
        left << QString::fromStdString(path);
    QCOMPARE(left, QStringList({"worksheet.dtype", "worksheet.groups.ful", "worksheet.groups.full2.layers"}));
    plan.set("worksheet.dtype", Source {Source::Kind::User, "again"});
    QCOMPARE(plan.find("worksheet.dtype")->name, std::string("again"));
    QCOMPARE(model.find("dtype")->name, std::string("dtype"));
    plan.remove("worksheet.dtype");
    QVERIFY(!plan.find("worksheet.dtype"));
}

QTEST_APPLESS_MAIN(LayerGroupTest)
#include "tst_layer_group.moc"
