// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_cross.h"

#include <fmt/format.h>

namespace kvw {

namespace {

/// A field of vision_config, or the class's own.
Result<Stated> imageNumber(const HfReading& reading, std::string_view name, std::int64_t byDefault)
{
    const auto vision = reading.fields.root().findValue("vision_config");
    const auto stated = vision ? vision->findValue(name) : std::nullopt;
    if (!stated) {
        const std::string text
            = fmt::format("vision_config.{} is not stated: its class's default, {}, was taken.", name, byDefault);
        reading.model.assumptions.push_back({"import.image_class_default", text, "limits.imageTokens"});
        return Stated {byDefault, reading.fields.assumption(fmt::format("/vision_config/{}", name), text)};
    }
    const Result<std::int64_t> value = stated->integer(1, 1'000'000);
    if (!value)
        return value.error();
    return Stated {*value, reading.fields.fileSource(stated->pointer())};
}

/// Tokens of one image of the largest size: tiles × (patches of a tile and one).
Result<void> readImageTokens(const HfReading& reading)
{
    const Result<Stated> size = imageNumber(reading, "image_size", 448);
    if (!size)
        return size.error();
    const Result<Stated> patch = imageNumber(reading, "patch_size", 14);
    if (!patch)
        return patch.error();
    const Result<Stated> tiles = imageNumber(reading, "max_num_tiles", 4);
    if (!tiles)
        return tiles.error();
    const std::int64_t side = size->value / patch->value;
    if (tiles->value > mostTokens / (side * side + 1))
        return Error {"json.range", "an image of this size has more tokens than any that is known",
            {reading.fields.root().file(), size->source.at}, fmt::format("{} × ({}² + 1)", tiles->value, side)};
    reading.model.imageTokens = tiles->value * (side * side + 1);
    Source source = size->source;
    source.note = fmt::format("{} tiles × (({} ÷ {})² + 1): one image of the largest size; text alone reads none",
        tiles->value, size->value, patch->value);
    reading.model.provenance.set("imageTokens", source);
    return {};
}

Result<void> readEncoderTokens(const HfReading& reading)
{
    const Result<std::optional<Stated>> longest = reading.fields.integer(
        {"max_source_positions", "max_encoder_position_embeddings", "max_position_embeddings", "n_positions"}, 1,
        mostTokens);
    if (!longest)
        return longest.error();
    if (!*longest) {
        reading.note("import.encoder_tokens",
            "The file does not state the longest sequence of the encoder; the plan must (limits.encoderTokens).",
            "max_source_positions", Severity::Warning);
        return {};
    }
    reading.model.encoderTokens = (*longest)->value;
    reading.model.provenance.set("encoderTokens", (*longest)->source);
    return {};
}

} // namespace

Result<LayerState> readCrossState(const HfReading& reading, const AttentionShape& shape)
{
    const bool image = reading.family.crossRule == CrossRule::Image;
    if (const Result<void> read = image ? readImageTokens(reading) : readEncoderTokens(reading); !read)
        return read.error();
    GrowthLaw growth;
    growth.variable = image ? GrowthVariable::ImageTokens : GrowthVariable::EncoderTokens;
    return attentionState({.id = "cross",
                              .name = image ? "Cross attention to images" : "Cross attention to the encoder",
                              .kind = LayerKind::Cross},
        shape, growth);
}

} // namespace kvw
