// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/growth_text.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace kvw {

namespace {

/// Without spaces, in lower case, with plain signs: "min(floor((v+3)/4),128)".
std::string plain(std::string_view text)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> signs {
        {{"−", "-"}, {"÷", "/"}, {"⌊", "floor("}, {"⌋", ")"}, {"⌈", "ceil("}, {"⌉", ")"}, {"\u00a0", ""}}};
    std::string out;
    while (!text.empty()) {
        bool known = false;
        for (const auto& [sign, instead] : signs) {
            if (!known && text.starts_with(sign)) {
                out += instead;
                text.remove_prefix(sign.size());
                known = true;
            }
        }
        if (known)
            continue;
        const char c = text.front();
        text.remove_prefix(1);
        if (c != ' ' && c != '\t')
            out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return out;
}

/// Reads the plain notation from its front on.
class Reader
{
public:
    explicit Reader(std::string_view text)
        : m_text(text)
    {}

    std::optional<GrowthLaw> law()
    {
        const std::string_view whole = m_text;
        for (auto read : {&Reader::fixed, &Reader::chunked, &Reader::limited, &Reader::count}) {
            m_text = whole;
            m_law = {};
            if ((this->*read)() && m_text.empty())
                return m_law;
        }
        return std::nullopt;
    }

private:
    bool take(std::string_view word)
    {
        if (!m_text.starts_with(word))
            return false;
        m_text.remove_prefix(word.size());
        return true;
    }

    bool number(std::int64_t& out)
    {
        if (m_text.empty() || m_text.front() < '0' || m_text.front() > '9')
            return false; // no sign here
        const auto [next, status] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), out);
        m_text.remove_prefix(static_cast<std::size_t>(next - m_text.data()));
        return status == std::errc {};
    }

    bool variable()
    {
        static constexpr std::string_view symbols = "vei";
        const std::size_t at = m_text.empty() ? std::string_view::npos : symbols.find(m_text.front());
        if (at == std::string_view::npos)
            return false;
        m_law.variable = static_cast<GrowthVariable>(at);
        m_text.remove_prefix(1);
        return true;
    }

    bool fixed()
    {
        m_law.form = GrowthForm::Fixed;
        return number(m_law.entries) && take("(fixed)");
    }

    bool chunked()
    {
        m_law.form = GrowthForm::Chunked;
        return take("((") && variable() && take("-1)mod") && number(m_law.chunk) && take(")+1");
    }

    bool limited() { return take("min(") && count() && take(",") && number(m_law.limit.emplace()) && take(")"); }

    bool count()
    {
        static constexpr std::array<std::pair<std::string_view, Rounding>, 3> roundings {
            {{"floor(", Rounding::Down}, {"ceil(", Rounding::Up}, {"round(", Rounding::Nearest}}};
        for (const auto& [word, rounding] : roundings) {
            if (!take(word))
                continue;
            m_law.rounding = rounding;
            const bool inner = take("(");
            return moved() && (!inner || take(")")) && take("/") && number(m_law.stride) && take(")");
        }
        return moved();
    }

    bool moved()
    {
        if (take("max(")) {
            const bool read = variable() && take("-") && number(m_law.offset) && take(",0)");
            m_law.offset = -m_law.offset;
            return read;
        }
        return variable() && (!take("+") || number(m_law.offset));
    }

    std::string_view m_text;
    GrowthLaw m_law;
};

} // namespace

Result<GrowthLaw> parseGrowth(std::string_view text)
{
    const std::string simple = plain(text);
    if (const std::optional<GrowthLaw> law = Reader(simple).law())
        return *law;
    return Error {"growth.syntax", "not a growth law", {}, shortened(std::string(text)),
        "v, min(v, 4096), ((v − 1) mod 8192) + 1, ⌊v ÷ 4⌋ or 1 (fixed); e counts encoder tokens, i image tokens"};
}

} // namespace kvw
