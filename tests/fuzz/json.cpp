// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// JSON text of any bytes: the fast reading never reads another tree than the exact one, nor accepts what that refuses.

#include "fuzz/fuzz.h"
#include "import/json_tree.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

using namespace kvw;
using fuzz::require;

namespace {

/// Equality of type and value, of doubles by their bits.
bool same(const Json& a, const Json& b)
{
    if (a.type() != b.type() || a.size() != b.size())
        return false;
    if (a.is_number_float())
        return std::bit_cast<std::uint64_t>(a.get<double>()) == std::bit_cast<std::uint64_t>(b.get<double>());
    if (a.is_object()) {
        const auto& left = a.get_ref<const Json::object_t&>();
        return std::equal(left.begin(), left.end(), b.get_ref<const Json::object_t&>().begin(),
            [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
    }
    if (a.is_array())
        return std::equal(a.begin(), a.end(), b.begin(), same);
    return a == b;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const JsonLimits& limits : {JsonLimits {}, JsonLimits {.depth = 3, .values = 12}}) {
        const std::optional<Json> fast = parseTreeFast(text, limits);
        const Result<Json> exact = parseTreeExactly(text, limits);
        require(exact.ok() || (!fast && !exact.error().code.empty()));
        require(!fast || same(*fast, *exact));
        require(parseJson(text, "fuzz.json", limits).ok() == exact.ok());
    }
    return 0;
}

std::vector<std::string> fuzz::seeds()
{
    return {R"({"a":[1,-2,3.5e-7,18446744073709551615,-9223372036854775808,1e30],"b":{"c":null,"d":[true,false]}})",
        R"({"keys":"\u00e4\ud83d\ude00\n\\\"","\u0000":"ä€😀","":[[],{}]})", "[NaN, -Infinity, Infinity]", "-0",
        " 1e400", R"([0.1000000000000000055511151231257827021181583404541015625, 2.2250738585072011e-308, 4.9e-324])",
        "\xef\xbb\xbf{\"a\":1}", R"({"a":1,"a":2})", R"("\ud800")", "\"\xed\xa0\x80\"", "[[[[[[[[1]]]]]]]]"};
}
