// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"

#include "import/json_text.h"
#include "import/json_tree.h"
#include "units/sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace kvw {

namespace {

/// Builds the tree from SAX events, without recursion, and stops at the first thing that is refused.
class TreeBuilder final : public nlohmann::json_sax<Json>
{
public:
    TreeBuilder(const JsonText& text, const JsonLimits& limits)
        : m_text(text)
        , m_limits(limits)
    {}

    bool null() override { return add(nullptr) != nullptr; }
    bool boolean(bool value) override { return add(value) != nullptr; }
    bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
    bool number_unsigned(number_unsigned_t value) override { return add(value) != nullptr; }
    bool number_float(number_float_t value, const string_t&) override { return add(value) != nullptr; }
    bool string(string_t& value) override
    {
        if (m_text.quotesNonFinite()) {
            if (value.front() == 'n')
                return add(nonFinite(value)) != nullptr;
            value.erase(0, 1);
        }
        return add(std::move(value)) != nullptr;
    }
    bool binary(binary_t&) override { return false; } // text has none

    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override
    {
        if (m_text.quotesNonFinite()) {
            if (name.front() == 'n')
                return syntaxError(m_text.offsetOfLast(), "a number stands where a key must be");
            name.erase(0, 1);
        }
        Frame& frame = m_stack.back();
        const auto [member, added] = frame.container->get_ref<Json::object_t&>().try_emplace(std::move(name), nullptr);
        frame.key = &member->first;
        frame.slot = &member->second;
        return added || refuse("json.duplicate_key", "a key appears twice in one object", "each key once");
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& exception) override
    {
        const std::size_t offset = m_text.offsetOf(position);
        if (exception.id == 406)
            return syntaxError(offset, "a number is too large for a double");
        // "… while parsing object - unexpected '}'; expected ':'": the parts before and after the "; " are of use.
        std::string_view reason = exception.what();
        if (const std::size_t start = reason.find(" - "); start != std::string_view::npos)
            reason.remove_prefix(start + 3);
        const std::size_t end = std::min(reason.find("; "), reason.size());
        const std::string_view rest = reason.substr(end);
        constexpr std::string_view expected = "; expected ";
        return syntaxError(
            offset, reason.substr(0, end), rest.starts_with(expected) ? rest.substr(expected.size()) : "");
    }

    Json takeRoot() { return std::move(m_root); }
    /// REQUIRES that a callback has returned false.
    const Error& error() const { return *m_error; }
    /// Where a syntax error was found.
    std::optional<std::size_t> syntaxErrorOffset() const { return m_syntaxErrorOffset; }

private:
    struct Frame
    {
        Json* container = nullptr;
        const std::string* key = nullptr; ///< of an object: the member that is being read
        Json* slot = nullptr;
    };

    static double nonFinite(std::string_view quoted)
    {
        if (quoted == "nNaN")
            return std::numeric_limits<double>::quiet_NaN();
        const double infinity = std::numeric_limits<double>::infinity();
        return quoted == "n-Infinity" ? -infinity : infinity;
    }

    Json* add(Json value)
    {
        if (++m_values > m_limits.values) {
            refuse("json.values", "the file holds too many values", fmt::format("at most {}", m_limits.values));
            return nullptr;
        }
        if (m_stack.empty()) {
            m_root = std::move(value);
            return &m_root;
        }
        const Frame& frame = m_stack.back();
        if (frame.container->is_object()) {
            *frame.slot = std::move(value);
            return frame.slot;
        }
        auto& elements = frame.container->get_ref<Json::array_t&>();
        elements.push_back(std::move(value));
        return &elements.back();
    }

    bool open(Json container)
    {
        if (m_stack.size() >= m_limits.depth)
            return refuse(
                "json.depth", "objects and arrays are nested too deeply", fmt::format("at most {}", m_limits.depth));
        Json* added = add(std::move(container));
        if (added)
            m_stack.push_back({added});
        return added != nullptr;
    }

    bool close()
    {
        m_stack.pop_back();
        return true;
    }

    /// Pointer of the value that is being read.
    std::string pointer() const
    {
        constexpr std::size_t longest = 1000; // a pointer is for people; its keys may be as long as the file
        std::string out;
        for (std::size_t i = 0; i < m_stack.size() && out.size() < longest; ++i) {
            const Frame& frame = m_stack[i];
            if (frame.container->is_object())
                appendPointerToken(out, std::string_view(*frame.key).substr(0, longest));
            else
                out += fmt::format("/{}", frame.container->size() - (i + 1 < m_stack.size() ? 1 : 0));
        }
        return out;
    }

    bool refuse(std::string code, std::string message, std::string expected)
    {
        const std::string line = lineAndColumn(m_text.text(), m_text.offsetOfLast());
        std::string at = pointer();
        if (at.empty())
            at = line;
        else
            message += " (" + line + ")";
        m_error = Error {std::move(code), std::move(message), {{}, std::move(at)}, {}, std::move(expected)};
        return false;
    }

    bool syntaxError(std::size_t offset, std::string_view reason, std::string_view expected = {})
    {
        m_syntaxErrorOffset = offset;
        m_error = Error {"json.syntax", fmt::format("not valid JSON: {}", reason),
            {{}, lineAndColumn(m_text.text(), offset)}, excerpt(m_text.text(), offset), std::string(expected)};
        return false;
    }

    const JsonText& m_text;
    const JsonLimits& m_limits;
    Json m_root;
    std::vector<Frame> m_stack;
    std::size_t m_values = 0;
    std::optional<Error> m_error;
    std::optional<std::size_t> m_syntaxErrorOffset;
};

Result<Json> parseTreeExactly(std::string_view text, const JsonLimits& limits, bool quoteNonFinite)
{
    JsonText source(text, quoteNonFinite);
    TreeBuilder builder(source, limits);
    if (Json::sax_parse(JsonTextIterator(source), JsonTextIterator(), &builder))
        return builder.takeRoot();
    const auto offset = builder.syntaxErrorOffset();
    if (!quoteNonFinite && offset && nonFiniteAt(text, *offset))
        return parseTreeExactly(text, limits, true); // once: the second reading does not come here
    return builder.error();
}

/// An open file that closes itself.
struct Descriptor
{
    int fd;
    explicit Descriptor(int opened)
        : fd(opened)
    {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor()
    {
        if (fd >= 0)
            ::close(fd);
    }
};

Error sizeError(const std::string& file, const JsonLimits& limits, std::string found)
{
    return {"json.size", "the file is too large", {file, {}}, std::move(found),
        fmt::format("at most {} bytes", limits.bytes)};
}

Error ioError(const char* code, const char* message, const std::string& path, int reason)
{
    return {code, fmt::format("{}: {}", message, std::strerror(reason)), {path, {}}};
}

Error noMemory(std::string file)
{
    return {"json.size", "there is not enough memory to read the file", {std::move(file), {}}};
}

Result<std::string> readText(const std::string& path, const JsonLimits& limits)
{
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.fd < 0)
        return ioError("io.open", "the file cannot be opened", path, errno);
    struct stat facts
    {};
    if (::fstat(file.fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0
        && static_cast<std::uint64_t>(facts.st_size) > limits.bytes)
        return sizeError(path, limits, fmt::format("{} bytes", facts.st_size));

    constexpr std::size_t chunk = std::size_t {256} << 10;
    std::string text;
    while (text.size() <= limits.bytes) {
        // One byte more than allowed is enough to know that there is too much.
        const std::size_t wanted = std::min(chunk, limits.bytes - text.size()) + 1;
        const std::size_t before = text.size();
        text.resize(before + wanted);
        const ssize_t got = ::read(file.fd, text.data() + before, wanted);
        const int reason = errno;
        text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0)
            return text;
        if (got < 0 && reason != EINTR)
            return ioError("io.read", "the file cannot be read", path, reason);
    }
    return sizeError(path, limits, fmt::format("more than {} bytes", limits.bytes));
}

} // namespace

Result<Json> parseTreeExactly(std::string_view text, const JsonLimits& limits)
{
    return parseTreeExactly(text, limits, false);
}

Result<JsonDocument> parseJson(std::string_view text, std::string file, const JsonLimits& limits)
{
    if (text.size() > limits.bytes)
        return sizeError(file, limits, fmt::format("{} bytes", text.size()));
    try {
        std::optional<Json> tree = parseTreeFast(text, limits);
        if (!tree) {
            Result<Json> exact = parseTreeExactly(text, limits);
            if (!exact) {
                Error error = exact.error();
                error.where.file = std::move(file);
                return error;
            }
            tree = std::move(exact).value();
        }
        return JsonDocument {std::make_shared<const Json>(std::move(*tree)), std::move(file), Sha256::hex(text)};
    } catch (const std::bad_alloc&) {
        return noMemory(std::move(file));
    } catch (const std::exception& exception) {
        return Error {"json.syntax", exception.what(), {std::move(file), {}}};
    }
}

Result<JsonDocument> readJsonFile(const std::string& path, const JsonLimits& limits)
{
    try {
        const Result<std::string> text = readText(path, limits);
        if (!text)
            return text.error();
        return parseJson(*text, path, limits);
    } catch (const std::bad_alloc&) {
        return noMemory(path);
    }
}

} // namespace kvw
