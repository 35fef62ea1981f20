// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoint folders: which files count, what their names say, and what does not fit the config.json.

#include "import/checkpoint.h"
#include "import/checkpoint_index.h"
#include "spec_text.h"
#include "support/peak_memory.h"
#include "support/safetensors_writer.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <map>

using namespace kvw;
using namespace kvw::test;

namespace {

bool writeText(const QString& path, const QByteArray& text)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

QString weightsText(const ModelSpec& model)
{
    QStringList out;
    for (const WeightPart& part : model.weights)
        out += QStringLiteral("%1 %2 %3 %4")
                   .arg(q(weightComponentNames()[static_cast<std::size_t>(part.component)]), q(part.type))
                   .arg(part.tensors)
                   .arg(part.bytes);
    return out.join(QStringLiteral("; "));
}

/// A folder with a config.json; files and their index are added.
class Folder
{
public:
    explicit Folder(const QByteArray& config = shaped("llama")) { writeText(path("config.json"), config); }
    QString path(const QString& name) const { return m_folder.filePath(name); }
    std::string name() const { return m_folder.path().toStdString(); }
    SafetensorsWriter& file(const std::string& name) { return m_files[name]; }
    /// A tensor in a file, and in the index.
    void tensor(const std::string& file, const std::string& name, const std::string& type,
        const std::vector<std::int64_t>& shape, std::int64_t bytes)
    {
        m_files[file].tensor(name, type, shape, bytes);
        index(name, file);
        m_total += bytes;
    }
    void index(const std::string& tensor, const std::string& file)
    {
        m_map += (m_map.empty() ? "" : ",") + ("\"" + tensor + "\":\"" + file + "\"");
    }
    bool write(bool withIndex) const
    {
        for (const auto& [name, writer] : m_files) {
            if (!writer.write(path(QString::fromStdString(name)).toStdString()))
                return false;
        }
        const std::string text
            = "{\"metadata\":{\"total_size\":" + std::to_string(m_total) + "},\"weight_map\":{" + m_map + "}}";
        return !withIndex
            || writeText(path(QStringLiteral("model.safetensors.index.json")), QByteArray::fromStdString(text));
    }
    Result<ModelSpec> import() const { return importModel(name()); }

private:
    QTemporaryDir m_folder;
    std::map<std::string, SafetensorsWriter> m_files;
    std::string m_map;
    std::int64_t m_total = 0;
};

QString failureOf(const Result<ModelSpec>& model)
{
    if (model)
        return QStringLiteral("read");
    return q(model.error().code) + u' ' + q(model.error().where.file).section(u'/', -1) + u' '
        + q(model.error().where.at);
}

/// Four layers of two heads of width 8 and hidden size 64, as the config of shaped() has them.
void addLayers(Folder& folder, int from, int to, const std::string& file)
{
    for (int i = from; i < to; ++i) {
        const std::string layer = "model.layers." + std::to_string(i) + ".";
        folder.tensor(file, layer + "self_attn.k_proj.weight", "BF16", {16, 64}, 2048);
        folder.tensor(file, layer + "self_attn.v_proj.weight", "BF16", {16, 64}, 2048);
        folder.tensor(file, layer + "mlp.down_proj.weight", "BF16", {64, 256}, 32'768);
        folder.tensor(file, layer + "input_layernorm.weight", "BF16", {64}, 128);
    }
}

} // namespace

class CheckpointTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void components_data();
    void components();
    void single();
    void sharded();
    void shardedWithoutIndex();
    void differences();
    void latent();
    void notFetched();
    void refused_data();
    void refused();
    void badIndex_data();
    void badIndex();
    void large();
};

void CheckpointTest::components_data()
{
    QTest::addColumn<QString>("component");
    const std::pair<const char*, const char*> table[] = {{"model.embed_tokens.weight", "embedding"},
        {"transformer.wte.weight", "embedding"}, {"lm_head.weight", "output"}, {"model.norm.weight", "norm"},
        {"model.layers.3.input_layernorm.weight", "norm"}, {"model.layers.3.self_attn.q_norm.weight", "norm"},
        {"transformer.h.0.ln_1.bias", "norm"}, {"model.layers.3.self_attn.q_proj.weight", "attention"},
        {"model.layers.3.self_attn.kv_a_proj_with_mqa.weight_scale_inv", "attention"},
        {"model.layers.3.self_attn.sinks", "attention"}, {"model.layers.3.linear_attn.conv1d.weight", "attention"},
        {"backbone.layers.3.mixer.A_log", "attention"}, {"model.layers.3.self_attn.indexer.wk.weight", "attention"},
        {"model.layers.3.mlp.gate_proj.weight", "mlp"}, {"model.layers.3.mlp.shared_experts.up_proj.weight", "mlp"},
        {"transformer.h.0.mlp.c_fc.weight", "mlp"}, {"backbone.layers.3.mixer.up_proj.weight", "mlp"},
        {"backbone.layers.3.mixer.k_proj.weight", "attention"},
        {"backbone.layers.3.mixer.experts.1.up_proj.weight", "experts"},
        {"decoder.block.0.layer.0.SelfAttention.k.weight", "attention"},
        {"decoder.block.0.layer.1.EncDecAttention.k.weight", "attention"},
        {"encoder.block.0.layer.1.DenseReluDense.wi.weight", "mlp"}, {"shared.weight", "embedding"},
        {"model.layers.3.mlp.shared_expert_gate.weight", "mlp"},
        {"model.layers.3.mlp.experts.17.down_proj.weight", "experts"}, {"model.layers.3.mlp.gate.weight", "experts"},
        {"model.layers.3.mlp.gate.e_score_correction_bias", "experts"},
        {"model.layers.3.block_sparse_moe.experts.0.w1.weight", "experts"},
        {"model.layers.3.mlp.router.weight", "experts"}, {"model.layers.3.mlp.experts.gate_up_proj_blocks", "experts"},
        {"model.visual.blocks.0.attn.qkv.weight", "vision"},
        {"vision_tower.vision_model.encoder.layers.0.self_attn.k_proj.weight", "vision"},
        {"mtp.layers.0.self_attn.q_proj.weight", "draft"}, {"model.layers.61.eh_proj.weight", "draft"},
        {"model.layers.61.enorm.weight", "draft"}, {"something.else", "other"}};
    for (const auto& [name, component] : table)
        QTest::newRow(name) << QString::fromLatin1(component);
}

void CheckpointTest::components()
{
    QFETCH(QString, component);
    const WeightComponent found = componentOfCheckpointTensor(QTest::currentDataTag());
    QCOMPARE(q(weightComponentNames()[static_cast<std::size_t>(found)]), component);
}

void CheckpointTest::single()
{
    Folder folder;
    addLayers(folder, 0, 4, "model.safetensors");
    folder.tensor("model.safetensors", "model.embed_tokens.weight", "F32", {100, 64}, 25'600);
    folder.tensor("model.safetensors", "lm_head.weight", "F8_E4M3", {100, 64}, 6'400);
    QVERIFY(folder.write(false));
    const auto model = folder.import();
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(groupsText(*model), QStringLiteral("full 4 [0-3] k 2x8 v 2x8"));
    QCOMPARE(weightsText(*model),
        QStringLiteral("embedding F32 1 25600; attention BF16 8 16384; mlp BF16 4 131072; norm BF16 4 512; "
                       "output F8_E4M3 1 6400"));
    QCOMPARE(model->weightBytes.value_or(0), std::int64_t {179'968});
    const auto source = model->provenance.find("weightBytes");
    QVERIFY(source);
    QCOMPARE(source->name, std::string("model.safetensors"));
    QCOMPARE(source->sha256, Sha256::hex(folder.file("model.safetensors").header()));
    QVERIFY(!diagnosticIds(*model).contains(QStringLiteral("weights")));
    // The file stands for its folder.
    const auto again = importModel(folder.path(QStringLiteral("model.safetensors")).toStdString());
    QVERIFY(again.ok());
    QCOMPARE(again->weightBytes, model->weightBytes);
}

void CheckpointTest::sharded()
{
    Folder folder;
    addLayers(folder, 0, 2, "model-00001-of-00002.safetensors");
    addLayers(folder, 2, 4, "model-00002-of-00002.safetensors");
    // What the index does not name does not count, and is said.
    folder.file("model-00002-of-00002.safetensors").tensor("left.over", "F32", {10}, 40);
    folder.file("other.safetensors").tensor("x", "F32", {10}, 40);
    QVERIFY(folder.write(true));
    const auto model = folder.import();
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(weightsText(*model), QStringLiteral("attention BF16 8 16384; mlp BF16 4 131072; norm BF16 4 512"));
    QVERIFY(diagnosticIds(*model).contains(QStringLiteral("import.tensors_not_in_index!")));
    QCOMPARE(model->provenance.find("weightBytes")->name, std::string("model.safetensors.index.json"));
    QCOMPARE(model->provenance.find("weightBytes")->at, std::string("headers of 2 files"));
}

void CheckpointTest::shardedWithoutIndex()
{
    Folder folder;
    addLayers(folder, 0, 2, "model-00001-of-00002.safetensors");
    addLayers(folder, 2, 4, "model-00002-of-00002.safetensors");
    QVERIFY(folder.write(false));
    QCOMPARE(folder.import()->weightBytes.value_or(0), std::int64_t {147'968});
    QVERIFY(QFile::remove(folder.path(QStringLiteral("model-00001-of-00002.safetensors"))));
    QCOMPARE(failureOf(folder.import()), QStringLiteral("checkpoint.missing_shard model-00001-of-00002.safetensors "));

    Folder unclear;
    addLayers(unclear, 0, 2, "a.safetensors");
    addLayers(unclear, 2, 4, "b.safetensors");
    QVERIFY(unclear.write(false));
    QVERIFY(!unclear.import()->weightBytes);
    QVERIFY(diagnosticIds(*unclear.import()).contains(QStringLiteral("import.checkpoint_unclear!")));
}

void CheckpointTest::differences()
{
    Folder folder;
    addLayers(folder, 0, 3, "model.safetensors"); // layer 3 is absent
    const std::string file = "model.safetensors";
    folder.tensor(file, "model.layers.4.self_attn.k_proj.weight", "BF16", {16, 64}, 2048); // one too many
    folder.tensor(file, "model.layers.5.self_attn.k_proj.weight", "BF16", {16, 64}, 2048); // a draft layer
    folder.tensor(file, "model.layers.5.eh_proj.weight", "BF16", {64, 128}, 16'384);
    for (const char* odd :
        {"layers.#.x", "model.layers.#.self_attn.k_proj.weight", "#", "layers.9", "9.layers.", "layers.1#.x"})
        folder.tensor(file, odd, "U8", {1, 1}, 1);
    folder.tensor(file, "vision_tower.layers.9.self_attn.k_proj.weight", "BF16", {99, 99}, 19'602);
    folder.tensor(file, "model.encoder.layers.8.self_attn.k_proj.weight", "BF16", {99, 99}, 19'602);
    QVERIFY(folder.write(false));
    const auto model = folder.import();
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QStringList found;
    for (const Diagnostic& diagnostic : model->diagnostics) {
        if (diagnostic.id == "import.weights_layers")
            found += q(diagnostic.message) + u'|' + q(diagnostic.where.at);
    }
    QCOMPARE(found,
        (QStringList {QStringLiteral("The configuration has layers 3, but there are no weights for them.|"),
            QStringLiteral("There are weights of attention in layers 4, which the configuration does not have.|"
                           "model.layers.4.self_attn.k_proj.weight")}));
    QVERIFY(weightsText(*model).contains(QStringLiteral("draft BF16 2 18432")));

    Folder other;
    for (int i = 0; i < 4; ++i) {
        const std::string layer = "model.layers." + std::to_string(i) + ".self_attn.";
        other.tensor(file, layer + "k_proj.weight", "BF16", {16, 64}, 2048);
        other.tensor(file, layer + "v_proj.weight", "BF16", {i < 2 ? 16 : 32, 64}, i < 2 ? 2048 : 4096);
    }
    QVERIFY(other.write(false));
    const auto wrong = other.import();
    QVERIFY(wrong.ok());
    const auto shape = std::find_if(wrong->diagnostics.begin(), wrong->diagnostics.end(),
        [](const Diagnostic& diagnostic) { return diagnostic.id == "import.weights_shape"; });
    QVERIFY(shape != wrong->diagnostics.end());
    QCOMPARE(q(shape->message),
        QStringLiteral(
            "The weights make 32 elements of values for each token in layers 2-3; the configuration says 16."));
    QCOMPARE(q(shape->where.at), QStringLiteral("model.layers.2.self_attn.v_proj.weight"));
    QCOMPARE(q(shape->where.file), QStringLiteral("model.safetensors"));
}

void CheckpointTest::latent()
{
    for (const std::int64_t rows : {576, 512}) {
        Folder folder(config("deepseek_v3", R"("kv_lora_rank":512,"qk_rope_head_dim":64)"));
        for (int i = 0; i < 4; ++i)
            folder.tensor("model.safetensors",
                "model.layers." + std::to_string(i) + ".self_attn.kv_a_proj_with_mqa.weight", "F8_E4M3", {rows, 64},
                rows * 64);
        QVERIFY(folder.write(false));
        const auto model = folder.import();
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
        QCOMPARE(diagnosticIds(*model).contains(QStringLiteral("import.weights_shape!")), rows != 576);
    }
}

void CheckpointTest::notFetched()
{
    const QByteArray pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n";
    Folder folder;
    addLayers(folder, 0, 4, "model-00001-of-00001.safetensors");
    QVERIFY(folder.write(true));
    QVERIFY(writeText(folder.path(QStringLiteral("model-00001-of-00001.safetensors")), pointer));
    auto model = folder.import();
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QCOMPARE(model->weightBytes.value_or(0), std::int64_t {147'968}); // as the index says
    QVERIFY(diagnosticIds(*model).contains(QStringLiteral("import.weights_not_fetched!")));
    QCOMPARE(model->provenance.find("weightBytes")->at, std::string("/metadata/total_size"));
    QVERIFY(model->weights.empty());
    QVERIFY(QFile::remove(folder.path(QStringLiteral("model.safetensors.index.json"))));
    model = folder.import();
    QVERIFY(model.ok() && !model->weightBytes);
    QVERIFY(diagnosticIds(*model).contains(QStringLiteral("import.weights_not_fetched!")));
}

void CheckpointTest::refused_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("failure");
    QTest::newRow("a shard is absent")
        << 0
        << "checkpoint.missing_shard model.safetensors.index.json /weight_map/model.layers.2.self_attn.k_proj.weight "
           "(byte 621)";
    QTest::newRow("a tensor is in no file") << 1 << "checkpoint.missing_tensor model.safetensors.index.json byte 1189";
    QTest::newRow("a tensor is in another file")
        << 2 << "checkpoint.missing_tensor model.safetensors.index.json byte 1189";
    QTest::newRow("a shard is damaged") << 3 << "safetensors.header_length model-00002-of-00002.safetensors byte 0";
    QTest::newRow("a tensor stands in two files")
        << 4 << "checkpoint.duplicate_tensor model-00002-of-00002.safetensors byte 405";
}

void CheckpointTest::refused()
{
    QFETCH(int, kind);
    QFETCH(QString, failure);
    Folder folder;
    const std::string first = "model-00001-of-00002.safetensors";
    const std::string second = "model-00002-of-00002.safetensors";
    addLayers(folder, 0, 2, first);
    addLayers(folder, 2, 4, second);
    if (kind == 1)
        folder.index("model.layers.3.no.more", first);
    if (kind == 2) {
        folder.index("model.layers.3.no.more", first);
        folder.file(second).tensor("model.layers.3.no.more", "U8", {1}, 1);
    }
    if (kind == 4)
        folder.file(second).tensor("model.layers.0.input_layernorm.weight", "BF16", {64}, 128);
    QVERIFY(folder.write(kind != 4));
    if (kind == 0)
        QVERIFY(QFile::remove(folder.path(QString::fromStdString(second))));
    if (kind == 3)
        QVERIFY(writeText(folder.path(QString::fromStdString(second)), "12345678{}"));
    const auto model = folder.import();
    QCOMPARE(failureOf(model).section(u' ', 0, 1), failure.section(u' ', 0, 1));
    if (kind == 0)
        QVERIFY(failureOf(model).contains(QStringLiteral("/weight_map/model.layers.2.self_attn.k_proj.weight (byte ")));
    else
        QVERIFY(q(model.error().where.at).startsWith(QStringLiteral("byte ")));
    if (kind == 1 || kind == 2)
        QVERIFY(q(model.error().found).contains(QStringLiteral("model.layers.3.no.more")));
}

void CheckpointTest::badIndex_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("failure");
    const auto add = [](const char* name, const QByteArray& text, const char* failure) {
        QTest::newRow(name) << text << QString::fromUtf8(failure);
    };
    add("empty", "", "json.syntax byte 0");
    add("no map", "{}", "checkpoint.index byte 0");
    add("map that is none", R"({"weight_map":[]})", "json.syntax byte 14");
    add("file that is no name", R"({"weight_map":{"a":5}})", "json.syntax byte 19");
    add("file in another folder", R"({"weight_map":{"a":"../b.safetensors"}})", "checkpoint.index byte 19");
    add("absolute file", R"({"weight_map":{"a":"/etc/passwd"}})", "checkpoint.index byte 19");
    add("same tensor twice", R"({"weight_map":{"a":"x","a":"y"}})", "json.duplicate_key byte 23");
    add("two maps", R"({"weight_map":{},"weight_map":{}})", "json.duplicate_key byte 17");
    add("more after it", R"({"weight_map":{}} x)", "json.syntax byte 18");
    add("total that is a float", R"({"metadata":{"total_size":1.5e3},"weight_map":{"a":"x"}})", "read");
    add("deep", "{\"metadata\":" + QByteArray(1000, '{') + "}", "json.syntax byte 13");
}

void CheckpointTest::badIndex()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, failure);
    const std::string bytes = text.toStdString();
    ByteReader reader(bytes, "i.json");
    const auto index = readCheckpointIndex(reader);
    QCOMPARE(index ? QStringLiteral("read") : q(index.error().code) + u' ' + q(index.error().where.at), failure);
}

// A checkpoint of the size of DeepSeek-R1: 93,000 tensors in 163 files of 700 GB, which are holes. Headers alone are
// read, one after the other.
void CheckpointTest::large()
{
    QByteArray fields = R"("kv_lora_rank":512,"qk_rope_head_dim":64,"num_nextn_predict_layers":1)";
    QByteArray text = config("deepseek_v3", fields);
    text.replace("\"num_hidden_layers\":4", "\"num_hidden_layers\":61")
        .replace("\"hidden_size\":64", "\"hidden_size\":7168");
    Folder folder(text);
    std::int64_t tensors = 0;
    std::int64_t bytes = 0;
    std::int64_t expertBytes = 0;
    std::int64_t draftBytes = 0;
    const auto add = [&](const std::string& name, const std::string& type, const std::vector<std::int64_t>& shape,
                         std::int64_t size) {
        constexpr std::int64_t inEach = 575;
        const std::string number = std::to_string(tensors / inEach + 1);
        folder.tensor(
            "model-" + std::string(5 - number.size(), '0') + number + "-of-00163.safetensors", name, type, shape, size);
        ++tensors;
        bytes += size;
    };
    for (int layer = 0; layer < 62; ++layer) {
        const std::int64_t before = bytes;
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        add(prefix + "self_attn.kv_a_proj_with_mqa.weight", "F8_E4M3", {576, 7168}, 576 * 7168);
        add(prefix + "self_attn.o_proj.weight", "BF16", {7168, 16'384}, std::int64_t {7168} * 16'384 * 2);
        for (int expert = 0; layer > 0 && expert < 250; ++expert) {
            for (const char* part : {"gate_proj", "up_proj", "down_proj"}) {
                const std::string name = prefix + "mlp.experts." + std::to_string(expert) + "." + part + ".weight";
                add(name, "F8_E4M3", {2048, 7168}, 2048 * 7168);
                add(name + "_scale_inv", "F32", {16, 56}, 16 * 56 * 4);
            }
        }
        if (layer == 61) {
            add(prefix + "eh_proj.weight", "BF16", {7168, 14'336}, std::int64_t {7168} * 14'336 * 2);
            draftBytes = bytes - before;
        } else if (layer > 0) {
            expertBytes += std::int64_t {250} * 3 * (2048 * 7168 + 16 * 56 * 4);
        }
    }
    while (tensors < 93'000)
        add("more." + std::to_string(tensors), "U8", {20'000'000}, 20'000'000);
    if (!folder.write(true))
        QSKIP("no sparse files of 700 GB can be made here");
    QVERIFY(bytes > 690'000'000'000);

    const PeakMemory memory;
    QElapsedTimer timer;
    timer.start();
    const auto model = folder.import();
    const qint64 took = timer.elapsed();
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    qInfo("%lld ms, %lld KiB more at the peak", static_cast<long long>(took),
        static_cast<long long>(memory.kibibytesMore()));
    QVERIFY(took < 20'000);
    QVERIFY(!memory.works() || memory.kibibytesMore() < 16'000);
    QCOMPARE(model->weightBytes.value_or(0), bytes);
    std::map<WeightComponent, std::int64_t> sums;
    std::int64_t counted = 0;
    for (const WeightPart& part : model->weights) {
        sums[part.component] += part.bytes;
        counted += part.tensors;
    }
    QCOMPARE(counted, std::int64_t {93'000});
    QCOMPARE(sums[WeightComponent::Experts], expertBytes);
    QCOMPARE(sums[WeightComponent::Draft], draftBytes);
    QVERIFY2(!diagnosticIds(*model).contains(QStringLiteral("import.weights")), qPrintable(diagnosticIds(*model)));
}

QTEST_APPLESS_MAIN(CheckpointTest)
#include "tst_checkpoint.moc"
