// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json_tree.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp> // the library's own sources, here and nowhere else
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace kvw {

namespace {

namespace bj = boost::json;

/// Builds the tree from the events of Boost's parser. Every callback that returns false has met something for the exact
/// reading; the error code is then of no interest.
class FastTreeBuilder
{
public:
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    explicit FastTreeBuilder(const JsonLimits& limits)
        : m_limits(limits)
    {}

    bool on_document_begin(bj::error_code&) { return true; }
    bool on_document_end(bj::error_code&) { return true; }

    bool on_object_begin(bj::error_code& code)
    {
        Json* const slot = m_stack.size() < m_limits.depth ? add(Json::object()) : nullptr;
        if (!slot)
            return refuse(code);
        Frame& frame = m_stack.emplace_back();
        frame.object = slot->get_ptr<Json::object_t*>();
        frame.next = frame.object->end();
        return true;
    }

    bool on_array_begin(bj::error_code& code)
    {
        Json* const slot = m_stack.size() < m_limits.depth ? add(Json::array()) : nullptr;
        if (!slot)
            return refuse(code);
        m_stack.emplace_back().array = slot->get_ptr<Json::array_t*>();
        return true;
    }

    bool on_object_end(std::size_t, bj::error_code&) { return close(); }
    bool on_array_end(std::size_t, bj::error_code&) { return close(); }

    bool on_key_part(bj::string_view part, std::size_t, bj::error_code&) { return keep(part); }
    bool on_key(bj::string_view rest, std::size_t, bj::error_code&)
    {
        m_stack.back().key = whole(rest);
        return true;
    }
    bool on_string_part(bj::string_view part, std::size_t, bj::error_code&) { return keep(part); }
    bool on_string(bj::string_view rest, std::size_t, bj::error_code& code) { return put(whole(rest), code); }

    bool on_number_part(bj::string_view part, bj::error_code&) { return keep(part); }
    /// As nlohmann's reader: whole numbers are signed where there is a minus.
    bool on_int64(std::int64_t value, bj::string_view rest, bj::error_code& code)
    {
        const bool negative = (m_text.empty() ? rest : bj::string_view(m_text)).starts_with('-');
        m_text.clear();
        return negative ? put(value, code) : put(static_cast<std::uint64_t>(value), code);
    }
    bool on_uint64(std::uint64_t value, bj::string_view, bj::error_code& code)
    {
        m_text.clear();
        return put(value, code);
    }
    /// Boost's own value may be off by a bit: the text decides.
    bool on_double(double, bj::string_view rest, bj::error_code& code)
    {
        double value = 0;
        bool read = false;
        if (m_text.empty()) {
            read = realOf(rest, value);
        } else {
            m_text.append(rest);
            read = realOf(m_text, value);
            m_text.clear();
        }
        return read ? put(value, code) : refuse(code);
    }

    bool on_bool(bool value, bj::error_code& code) { return put(value, code); }
    bool on_null(bj::error_code& code) { return put(nullptr, code); }
    bool on_comment_part(bj::string_view, bj::error_code& code) { return refuse(code); }
    bool on_comment(bj::string_view, bj::error_code& code) { return refuse(code); }

    Json takeRoot() { return std::move(m_root); }

private:
    /// An object or array that is open; one of the first two is set.
    struct Frame
    {
        Json::object_t* object = nullptr;
        Json::array_t* array = nullptr;
        std::string key {}; ///< of the member that is being read
        Json::object_t::iterator next {}; ///< behind the last member: keys are often in order
    };

    static bool refuse(bj::error_code& code)
    {
        code = bj::error::syntax;
        return false;
    }

    static bool realOf(bj::string_view text, double& value)
    {
        return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() && std::isfinite(value);
    }

    bool keep(bj::string_view part)
    {
        m_text.append(part);
        return true;
    }

    std::string whole(bj::string_view rest)
    {
        if (m_text.empty())
            return std::string(rest);
        m_text.append(rest);
        return std::exchange(m_text, {});
    }

    template <typename Value>
    bool put(Value&& value, bj::error_code& code)
    {
        return add(std::forward<Value>(value)) || refuse(code);
    }

    /// The value at its place in the tree; nullptr when there are too many values, or when its key is there already.
    template <typename Value>
    Json* add(Value&& value)
    {
        if (++m_values > m_limits.values)
            return nullptr;
        if (m_stack.empty()) {
            m_root = std::forward<Value>(value);
            return &m_root;
        }
        Frame& frame = m_stack.back();
        if (frame.array)
            return &frame.array->emplace_back(std::forward<Value>(value));
        const std::size_t before = frame.object->size();
        const auto member = frame.object->try_emplace(frame.next, std::move(frame.key), std::forward<Value>(value));
        frame.next = std::next(member);
        return frame.object->size() > before ? &member->second : nullptr;
    }

    bool close()
    {
        m_stack.pop_back();
        return true;
    }

    const JsonLimits& m_limits;
    Json m_root;
    std::vector<Frame> m_stack;
    std::string m_text; ///< the parts so far of a string or number that comes in several
    std::size_t m_values = 0;
};

} // namespace

std::optional<Json> parseTreeFast(std::string_view text, const JsonLimits& limits)
{
    constexpr std::size_t mostDepth = 1'000; // the parser calls itself; what is deeper is left to the exact reading
    bj::parse_options options;
    options.max_depth = std::min(limits.depth, mostDepth);
    bj::basic_parser<FastTreeBuilder> parser(options, limits);
    bj::error_code code;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), code);
    if (code || read != text.size() || !parser.done())
        return std::nullopt;
    return parser.handler().takeRoot();
}

} // namespace kvw
