// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_linear.h"

#include "import/hf_mamba.h"
#include "import/hf_mixer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvw {

namespace {

class MixerReader : private MixerBuilder
{
public:
    explicit MixerReader(const HfReading& reading)
        : MixerBuilder(reading)
    {}

    Result<LayerState> read()
    {
        if (const Result<void> status = readTensors(); !status)
            return status.error();
        return finish();
    }

private:
    Result<void> readTensors()
    {
        switch (m_reading.family.mixer) {
        case Mixer::GatedDeltaNet:
            return gatedDeltaNet();
        case Mixer::Kda:
            return kda();
        case Mixer::Lightning:
            return lightning();
        case Mixer::ShortConv:
            return shortConv();
        case Mixer::Rwkv4:
            return rwkv4();
        case Mixer::Rwkv:
            return rwkv();
        case Mixer::RgLru:
            return rgLru();
        case Mixer::Mamba1:
        case Mixer::Mamba2:
        case Mixer::None:
            break;
        }
        return Error {"import.unsupported", "the family has no mixer", {m_fields.root().file(), {}}};
    }

    Result<void> gatedDeltaNet()
    {
        start("gated_delta_net", "Gated DeltaNet");
        const bool known = hasWord("qwen3_next", m_fields.modelType());
        const Result<Stated> keyHeads = number({"linear_num_key_heads"}, known ? 16 : 0, "conv", "heads");
        if (!keyHeads)
            return keyHeads.error();
        const Result<Stated> valueHeads = number({"linear_num_value_heads"}, known ? 32 : 0, "state", "heads");
        if (!valueHeads)
            return valueHeads.error();
        const Result<Stated> keyWidth = number({"linear_key_head_dim"}, known ? 128 : 0, "state", "width");
        if (!keyWidth)
            return keyWidth.error();
        const Result<Stated> valueWidth = number({"linear_value_head_dim"}, known ? 128 : 0, "state", "width");
        if (!valueWidth)
            return valueWidth.error();
        const Result<Stated> kernel = number({"linear_conv_kernel_dim"}, known ? 4 : 0, "conv", "entries");
        if (!kernel)
            return kernel.error();
        if (valueHeads->value % keyHeads->value != 0)
            return Error {"import.inconsistent", "the value heads cannot be divided over the key heads",
                {m_fields.root().file(), valueHeads->source.at},
                fmt::format("{} over {}", valueHeads->value, keyHeads->value),
                "a whole number of value heads for each"};
        // The convolution runs over queries, keys and values: for each key head two rows of keys' width and its values.
        const std::int64_t channels = 2 * keyWidth->value + valueHeads->value / keyHeads->value * valueWidth->value;
        addConvolution("conv", {keyHeads->value, keyHeads->source},
            {channels, noted(keyWidth->source, "query and key of this width, and the values of each key head")},
            *kernel);
        return addRecurrent("state", {valueHeads->value, valueHeads->source},
            {valueWidth->value * keyWidth->value, noted(valueWidth->source, "× the key's width: a matrix a head")},
            {"mamba_ssm_dtype"}, m_reading.model.dtype, "");
    }

    /// linear_attn_config, or fields of the same meaning beside the others.
    Result<Stated> kdaNumber(
        std::string_view nested, std::string_view flat, std::int64_t byDefault, const char* tensor, const char* field)
    {
        const auto config = m_fields.find({"linear_attn_config"});
        if (const auto stated = config ? config->findValue(nested) : std::nullopt) {
            const Result<std::int64_t> value = stated->integer(1, mostWidth);
            if (!value)
                return value.error();
            return Stated {*value, m_fields.fileSource(stated->pointer())};
        }
        if (config)
            return config->error("import.missing_field", fmt::format("{} is not stated", nested), "a whole number");
        return number({flat}, byDefault, tensor, field);
    }

    Result<void> kda()
    {
        start("kda", "Kimi Delta Attention");
        const Result<Stated> heads = kdaNumber("num_heads", "linear_num_heads", 0, "state", "heads");
        if (!heads)
            return heads.error();
        const Result<Stated> width = kdaNumber("head_dim", "linear_head_dim", 0, "state", "width");
        if (!width)
            return width.error();
        const Result<Stated> kernel
            = kdaNumber("short_conv_kernel_size", "linear_conv_kernel_dim", 0, "conv", "entries");
        if (!kernel)
            return kernel.error();
        addConvolution("conv", {heads->value, heads->source},
            {3 * width->value, noted(width->source, "× 3: query, key and value")}, *kernel);
        return addRecurrent("state", {heads->value, heads->source},
            {width->value * width->value, noted(width->source, "squared: a matrix a head")}, {}, ElementType::Fp32,
            "the state of Kimi Delta Attention is always fp32");
    }

    Result<void> lightning()
    {
        start("lightning", "Lightning attention");
        const Result<Stated> heads = number({"num_attention_heads"}, 0, "state", "heads");
        if (!heads)
            return heads.error();
        const Result<std::optional<Stated>> stated = m_fields.integer({"head_dim"}, 1, mostWidth);
        if (!stated)
            return stated.error();
        Stated width = stated->value_or(Stated {});
        if (!*stated) {
            const Result<Stated> hidden = hiddenSize();
            if (!hidden)
                return hidden.error();
            if (hidden->value % heads->value != 0)
                return Error {"import.inconsistent",
                    "head_dim is not stated, and hidden_size ÷ query heads is not a whole number",
                    {m_fields.root().file(), hidden->source.at}, fmt::format("{} ÷ {}", hidden->value, heads->value),
                    "head_dim"};
            width
                = Stated {hidden->value / heads->value, noted(hidden->source, fmt::format("÷ {} heads", heads->value))};
        }
        return addRecurrent("state", {heads->value, heads->source},
            {width.value * width.value, noted(width.source, "squared: a matrix a head")},
            {"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}, m_reading.model.dtype, "");
    }

    Result<void> shortConv()
    {
        start("short_conv", "Short convolution");
        const Result<Stated> kernel = number({"conv_L_cache"}, 3, "conv", "entries");
        if (!kernel)
            return kernel.error();
        const Result<Stated> width = number({"conv_dim", "hidden_size"}, 0, "conv", "width");
        if (!width)
            return width.error();
        addConvolution(
            "conv", {width->value, width->source}, {1, definition("every channel is a row of its own")}, *kernel);
        return {};
    }

    /// The last token's input of the attention and of the MLP.
    Result<Stated> tokenShift()
    {
        const Result<Stated> hidden = hiddenSize();
        if (!hidden)
            return hidden;
        const auto modelType = m_reading.model.provenance.find("dtype");
        add("shift", TensorRole::Buffer, {1, definition("the channels of the model: no heads")},
            {hidden->value, hidden->source}, 2, m_reading.model.dtype, modelType ? *modelType : Source {});
        m_state.group.tensors.back().shard = ShardRule::Replicated;
        return hidden;
    }

    Result<void> rwkv4()
    {
        start("rwkv", "RWKV 4");
        const Result<Stated> hidden = tokenShift();
        if (!hidden)
            return hidden.error();
        const Result<std::optional<Stated>> own = m_fields.integer({"attention_hidden_size"}, 1, mostWidth);
        if (!own)
            return own.error();
        const Stated width = own->value_or(*hidden);
        add("state", TensorRole::RecurrentState, {1, definition("no heads")}, {width.value, width.source}, 3,
            ElementType::Fp32, definition("numerator, denominator and maximum are fp32"));
        return {};
    }

    Result<void> rwkv()
    {
        start("rwkv", "RWKV");
        const Result<Stated> hidden = tokenShift();
        if (!hidden)
            return hidden.error();
        const Result<std::optional<Stated>> own = m_fields.integer({"attention_hidden_size", "dim_att"}, 1, mostWidth);
        if (!own)
            return own.error();
        const Stated inner = own->value_or(*hidden);
        const Result<Stated> width
            = number({"head_size", "head_dim", "rwkv_head_size", "head_size_a"}, 64, "state", "width");
        if (!width)
            return width.error();
        if (inner.value % width->value != 0)
            return Error {"import.inconsistent", "the hidden size cannot be divided into heads of this size",
                {m_fields.root().file(), width->source.at}, fmt::format("{} ÷ {}", inner.value, width->value),
                "a whole number of heads"};
        return addRecurrent("state",
            {inner.value / width->value, noted(inner.source, fmt::format("÷ {}: heads", width->value))},
            {width->value * width->value, noted(width->source, "squared: a matrix a head")}, {}, ElementType::Fp32,
            "the state of RWKV is fp32 by convention");
    }

    Result<void> rgLru()
    {
        start("rg_lru", "Recurrent (RG-LRU)");
        const Result<Stated> width = number({"lru_width", "hidden_size"}, 0, "state", "width");
        if (!width)
            return width.error();
        const Result<Stated> kernel = number({"conv1d_width"}, 4, "conv", "entries");
        if (!kernel)
            return kernel.error();
        addConvolution("conv", {1, definition("no heads")}, {width->value, width->source}, *kernel);
        return addRecurrent("state", {1, definition("no heads")}, {width->value, width->source}, {}, ElementType::Fp32,
            "the state of the RG-LRU is fp32");
    }
};

} // namespace

Result<LayerState> readMixerState(const HfReading& reading)
{
    const Mixer mixer = reading.family.mixer;
    return mixer == Mixer::Mamba1 || mixer == Mixer::Mamba2 ? readMambaState(reading) : MixerReader(reading).read();
}

} // namespace kvw
