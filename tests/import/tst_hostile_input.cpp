// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Every reader against every kind of file that was made, or happened, to cost memory or time. What each reader says
// about files of its own form is in the reader's own tests.

#include "cache/event_log.h"
#include "import/model_file.h"
#include "plan/built_in_data.h"
#include "plan/model_library.h"
#include "plan/open_plan.h"
#include "support/example_plans.h"
#include "support/gguf_writer.h"
#include "support/peak_memory.h"
#include "support/safetensors_writer.h"
#include "worker/probe_outcome.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

using namespace kvw;

namespace {

const char* const smallConfig = R"({"model_type":"llama","vocab_size":9,"num_hidden_layers":2,"hidden_size":64,)"
                                R"("num_attention_heads":2,"num_key_value_heads":1,"torch_dtype":"bfloat16"})";

bool writeFile(const std::string& path, std::string_view bytes)
{
    std::ofstream file(path, std::ios::binary);
    return !file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush().fail();
}

std::string contentOf(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return {};
    std::string out(std::filesystem::file_size(path), '\0');
    file.read(out.data(), static_cast<std::streamsize>(out.size()));
    return out;
}

/// Memory that reading may take, in bytes for each byte of the file: the tree of a list of empty lists has 30 while it
/// grows.
constexpr std::int64_t mostTimes = 32;

/// Something that reads a file: where in a folder the file lies, what is read, and what must lie beside it.
struct Reader
{
    const char* name;
    const char* file;
    Result<void> (*read)(const std::string& folder, const std::string& path);
    bool besideConfig = false;
    bool mayIgnore = false; ///< the file only adds to what another says
};

Result<void> readModel(const std::string&, const std::string& path)
{
    const Result<OpenedPlan> opened = openPlanOrModel(path);
    return opened ? Result<void>() : Result<void>(opened.error());
}

Result<void> readFolder(const std::string& folder, const std::string&)
{
    const Result<ModelSpec> model = importModel(folder);
    return model ? Result<void>() : Result<void>(model.error());
}

Result<void> readPasted(const std::string&, const std::string& path)
{
    const Result<OpenedPlan> opened = openPlanOrModelText(contentOf(path), path);
    return opened ? Result<void>() : Result<void>(opened.error());
}

Result<void> readOwnLibrary(const std::string& folder, const std::string&)
{
    std::vector<Error> refused;
    (void)ownModels(folder, refused);
    return refused.empty() ? Result<void>() : Result<void>(refused.front());
}

Result<void> readEvents(const std::string&, const std::string& path)
{
    const Result<std::unique_ptr<EventLog>> log = EventLog::open(path);
    return log ? Result<void>() : Result<void>(log.error());
}

/// As a worker's or a window's end of the pipe gets it: in pieces.
Result<void> readFrames(const std::string&, const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::vector<char> piece(65'536);
    worker::FrameReader reader;
    const Error cutShort {"frame.hello", "no whole frame", {path, {}}};
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
        reader.add(std::as_bytes(std::span(piece.data(), static_cast<std::size_t>(file.gcount()))));
        const Result<std::optional<worker::Frame>> frame = reader.next();
        if (!frame) {
            Error error = frame.error();
            error.where.file = path;
            return error;
        }
        if (*frame)
            return {};
    }
    return cutShort;
}

Result<void> readRequest(const std::string&, const std::string& path)
{
    const Result<worker::RequestBody> request = worker::requestFromJson(contentOf(path), path);
    return request ? Result<void>() : Result<void>(request.error());
}

Result<void> readOutcome(const std::string&, const std::string& path)
{
    const Result<worker::ProbeOutcome> outcome = worker::probeOutcomeFromJson(contentOf(path), path);
    return outcome ? Result<void>() : Result<void>(outcome.error());
}

const Reader readers[] = {{"config.json", "config.json", readModel},
    {"a folder's config.json", "config.json", readFolder}, {"pasted text", "pasted", readPasted},
    {"GGUF", "model.gguf", readModel}, {"safetensors", "model.safetensors", readFolder, true},
    {"index of a checkpoint", "model.safetensors.index.json", readFolder, true},
    {"hf_quant_config.json", "hf_quant_config.json", readFolder, true, true},
    {"generation_config.json", "generation_config.json", readFolder, true, true}, {"plan", "a.kvplan", readModel},
    {"own library", "own.json", readOwnLibrary}, {"event log", "a.kvevents", readEvents},
    {"worker's pipe", "pipe", readFrames}, {"worker's request", "request", readRequest},
    {"worker's result", "result", readOutcome}};

/// A folder with `bytes`, or with the file `content`, as the reader's file.
class Folder
{
public:
    Folder(const Reader& reader, std::string_view bytes, const std::string& content = {})
        : m_reader(reader)
    {
        std::error_code wrong;
        if (content.empty())
            written = m_folder.isValid() && writeFile(path(), bytes);
        else
            std::filesystem::create_hard_link(content, path(), wrong);
        written = content.empty() ? written : !wrong;
        if (reader.besideConfig)
            written = written && writeFile(m_folder.filePath(QStringLiteral("config.json")).toStdString(), smallConfig);
    }
    std::string path() const { return m_folder.filePath(QString::fromLatin1(m_reader.file)).toStdString(); }
    Result<void> read() const { return m_reader.read(m_folder.path().toStdString(), path()); }

    bool written = false;

private:
    const Reader& m_reader;
    QTemporaryDir m_folder;
};

std::string repeated(std::string_view part, std::size_t bytes)
{
    std::string out;
    out.reserve(bytes + part.size());
    while (out.size() < bytes)
        out += part;
    return out;
}

std::string randomBytes(std::size_t size)
{
    std::mt19937_64 dice(5);
    std::string out(size, '\0');
    for (char& byte : out)
        byte = static_cast<char>(dice());
    return out;
}

/// The text with each number in turn replaced by each of the values that a reader might believe.
std::vector<std::string> withOtherNumbers(const std::string& text)
{
    static const char* const values[] = {"-1", "0", "1e30", "1000000000000000000000000000000", "1e400", "NaN",
        "-Infinity", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1000000", "0.5", "null",
        "\"1\"", "{}", "[[[[[[[[1]]]]]]]]"};
    std::vector<std::string> out;
    bool inString = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"' && (at == 0 || text[at - 1] != '\\'))
            inString = !inString;
        if (inString || (c != '-' && (c < '0' || c > '9')))
            continue;
        const std::size_t end = text.find_first_not_of("-+.eE0123456789", at);
        for (const char* value : values)
            out.push_back(text.substr(0, at) + value + text.substr(std::min(end, text.size())));
        at = std::min(end, text.size()) - 1;
    }
    return out;
}

} // namespace

class HostileInputTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void files_data();
    void files();
    void mostValues();
    void numbers_data();
    void numbers();
    void ggufNumbers();
};

void HostileInputTest::files_data()
{
    QTest::addColumn<int>("kind");
    const char* const kinds[] = {"nothing", "one zero byte", "binary, 4 MB", "100 MB of zeros", "100 MB of [",
        "100 MB of space", "a string of 100 MB", "arrays in an array, 0.5 MB", "arrays in arrays, 0.5 MB",
        "10^5 members", "a number of 10^6 digits", "a key of 20 MB", "GGUF and noise", "an event log and noise",
        "a frame of 16 MiB", "a header of 2^63 bytes", "backslashes, 20 MB"};
    for (int kind = 0; kind < static_cast<int>(std::size(kinds)); ++kind)
        QTest::newRow(kinds[kind]) << kind;
}

/// Each is refused by each reader, with the file's name, for little more memory than the file has, and soon.
void HostileInputTest::files()
{
    QFETCH(int, kind);
    constexpr std::size_t mega = 1'000'000;
    std::string bytes;
    switch (kind) {
    case 0:
        break;
    case 1:
        bytes = std::string(1, '\0');
        break;
    case 2:
        bytes = randomBytes(4 * mega);
        break;
    case 3:
        bytes = std::string(100 * mega, '\0');
        break;
    case 4:
        bytes = std::string(100 * mega, '[');
        break;
    case 5:
        bytes = std::string(100 * mega, ' ');
        break;
    case 6:
        bytes = "\"" + std::string(100 * mega, 'a') + "\"";
        break;
    case 7:
        bytes = "[[]" + repeated(",[]", mega / 2) + "]";
        break;
    case 8:
        bytes = "[0" + repeated(",[[[[[[[[[[]]]]]]]]]]", mega / 2) + "]";
        break;
    case 9:
        for (int i = 0; i < 100'000; ++i)
            bytes += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
        bytes += "}";
        break;
    case 10:
        bytes = "{\"num_hidden_layers\":" + std::string(mega, '9') + "}";
        break;
    case 11:
        bytes = "{\"" + std::string(20 * mega, 'k') + "\":1}";
        break;
    case 12:
        bytes = std::string("GGUF\3\0\0\0", 8) + randomBytes(mega);
        break;
    case 13:
        bytes = "KVWH" + randomBytes(mega);
        break;
    case 14:
        bytes = std::string("\0\0\0\1\1", 5) + std::string(16 * mega, '\1');
        break;
    case 15:
        bytes = std::string("\0\0\0\0\0\0\0\x80{}", 10);
        break;
    default:
        bytes = "{\"a\":\"" + std::string(20 * mega, '\\') + "\"}";
        break;
    }
    QTemporaryDir first;
    const std::string content = first.filePath(QStringLiteral("content")).toStdString();
    QVERIFY(writeFile(content, bytes));
    const auto size = static_cast<std::int64_t>(bytes.size());
    bytes = std::string();
    for (const Reader& reader : readers) {
        const Folder folder(reader, {}, content);
        QVERIFY2(folder.written, reader.name);
        QElapsedTimer timer;
        timer.start();
        const test::PeakMemory memory;
        const Result<void> read = folder.read();
        const std::int64_t kibibytes = memory.kibibytesMore();
        const qint64 milliseconds = timer.elapsed();
        QVERIFY2(!read || reader.mayIgnore, reader.name);
        if (!read) {
            QVERIFY2(!read.error().code.empty() && !read.error().message.empty(), reader.name);
            QVERIFY2(read.error().text().size() < 4'000, reader.name); // for people
            QVERIFY2(QString::fromStdString(read.error().where.file).startsWith(QDir::tempPath()), reader.name);
        }
        const auto cost
            = QStringLiteral("%1: %2 KiB, %3 ms").arg(QLatin1String(reader.name)).arg(kibibytes).arg(milliseconds);
        QVERIFY2(!memory.works() || kibibytes < 16'000 + mostTimes * size / 1000, qPrintable(cost));
        QVERIFY2(milliseconds < 20'000, qPrintable(cost));
    }
}

/// As many values as a file may have and more: refused at the cap.
void HostileInputTest::mostValues()
{
    for (const char* part : {",[]", ",0"}) {
        const Folder folder(readers[0], "[0" + repeated(part, 13'000'000) + "]");
        QVERIFY(folder.written);
        const test::PeakMemory memory;
        const Result<void> read = folder.read();
        QCOMPARE(read.error().code, std::string("json.values"));
        QVERIFY2(!memory.works() || memory.kibibytesMore() < 400'000, part);
    }
}

void HostileInputTest::numbers_data()
{
    QTest::addColumn<int>("reader");
    QTest::addColumn<QByteArray>("text");
    const auto row = [](const char* name, const char* reader, const std::string& text) {
        const auto* const found = std::find_if(std::begin(readers), std::end(readers),
            [&](const Reader& each) { return std::string_view(each.name) == reader; });
        QTest::newRow(name) << static_cast<int>(found - std::begin(readers)) << QByteArray::fromStdString(text);
    };
    const std::string data = qEnvironmentVariable("KVW_SOURCE_DIR").toStdString() + "/tests/data/import/";
    for (const char* name :
        {"llama_3_1_8b", "gemma_4_31b", "deepseek_v4_flash", "kimi_k3", "qwen3_6_27b", "nemotron_3_nano"})
        row(name, "config.json", contentOf(data + name + ".json"));
    Plan plan = test::smallPlan();
    row("plan", "plan", planToJson(plan));
    Json library = Json::parse(builtInModelsJson());
    library["models"] = Json::array({library["models"][0], library["models"][40], library["models"][90]});
    row("library", "own library", library.dump());
    row("index", "index of a checkpoint",
        R"({"metadata":{"total_size":2564},"weight_map":{"a":"m1.safetensors","b":"m2.safetensors"}})");
    row("hf_quant_config.json", "hf_quant_config.json",
        R"({"producer":{"name":"modelopt"},"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":"FP8","group_size":16}})");
    row("generation_config.json", "generation_config.json",
        R"({"eos_token_id":[2,3],"max_length":4096,"max_new_tokens":512})");
    row("request", "worker's request", worker::toJson(worker::ProbeRequest {.plan = plan}));
}

/// Negative, zero, 10^30, not a number, beyond 64 bits, 10^6, another type: at the place of every number of a file that
/// is read otherwise. Refused or believed, it costs nothing.
void HostileInputTest::numbers()
{
    QFETCH(int, reader);
    QFETCH(QByteArray, text);
    const Folder whole(readers[reader], text.toStdString());
    const Result<void> before = whole.read();
    QVERIFY2(before.ok() || readers[reader].file == std::string_view("model.safetensors.index.json"),
        before.ok() ? "" : before.error().text().c_str());
    const std::vector<std::string> all = withOtherNumbers(text.toStdString());
    QVERIFY(all.size() >= 16);
    const test::PeakMemory memory;
    int refused = 0;
    // Of a long file some, each value about as often.
    const std::size_t step = all.size() > 1'600 ? all.size() / 800 | 1 : 1;
    for (std::size_t i = 0; i < all.size(); i += step) {
        const std::string& changed = all[i];
        const Folder folder(readers[reader], changed);
        QElapsedTimer timer;
        timer.start();
        const Result<void> read = folder.read();
        refused += read ? 0 : 1;
        if (!read)
            QVERIFY2(!read.error().code.empty() && !read.error().where.file.empty(), changed.c_str());
        QVERIFY2(timer.elapsed() < 5'000, changed.c_str());
    }
    QVERIFY(refused > 0 || readers[reader].mayIgnore);
    QVERIFY2(!memory.works() || memory.kibibytesMore() < 64'000, qPrintable(QString::number(memory.kibibytesMore())));
}

/// The same for the keys of a GGUF file.
void HostileInputTest::ggufNumbers()
{
    static const char* const keys[] = {"block_count", "context_length", "embedding_length", "attention.head_count",
        "attention.head_count_kv", "attention.key_length", "attention.value_length", "attention.sliding_window",
        "attention.sliding_window_pattern", "attention.shared_kv_layers", "attention.kv_lora_rank",
        "attention.key_length_mla", "attention.indexer.key_length", "ssm.conv_kernel", "ssm.inner_size",
        "ssm.state_size", "ssm.group_count", "ssm.time_step_rank", "kda.head_dim", "shortconv.l_cache", "wkv.head_size",
        "nextn_predict_layers", "leading_dense_block_count", "full_attention_interval"};
    const test::PeakMemory memory;
    QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("a.gguf")).toStdString();
    int refused = 0;
    for (const char* architecture : {"llama", "gemma4", "deepseek2", "qwen35", "nemotron_h", "lfm2", "rwkv7"}) {
        for (const char* changed : keys) {
            for (const std::uint32_t value : {0U, 1U, 1'000'000U, 0x7fffffffU, 0xffffffffU}) {
                test::GgufWriter writer(architecture);
                for (const char* key : {"block_count", "embedding_length", "attention.head_count",
                         "attention.head_count_kv", "ssm.conv_kernel", "ssm.inner_size", "ssm.state_size",
                         "ssm.group_count", "ssm.time_step_rank", "shortconv.l_cache", "wkv.head_size"}) {
                    if (std::string_view(key) != changed)
                        writer.u32(key, std::string_view(key) == "embedding_length" ? 64 : 4);
                }
                writer.u32(changed, value);
                QVERIFY(writeFile(path, writer.header()));
                QElapsedTimer timer;
                timer.start();
                const Result<ModelSpec> model = importModel(path);
                refused += model ? 0 : 1;
                QVERIFY2(model || (!model.error().code.empty() && model.error().where.file == path), changed);
                QVERIFY2(timer.elapsed() < 1'000, changed);
            }
        }
    }
    QVERIFY(refused > 100);
    QVERIFY2(!memory.works() || memory.kibibytesMore() < 64'000, qPrintable(QString::number(memory.kibibytesMore())));
}

QTEST_APPLESS_MAIN(HostileInputTest)
#include "tst_hostile_input.moc"
