// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_mixer.h"

#include <fmt/format.h>

namespace kvw {

void MixerBuilder::start(std::string id, std::string name)
{
    m_state.group.id = std::move(id);
    m_state.group.name = std::move(name);
    m_state.group.kind = LayerKind::Recurrent;
}

Result<Stated> MixerBuilder::number(
    HfFields::Names names, std::int64_t byDefault, const std::string& tensor, const char* field) const
{
    const std::string path = fmt::format("{}.tensors.{}.{}", m_state.group.id, tensor, field);
    if (byDefault != 0)
        return m_reading.numberOr(names, 1, mostWidth, byDefault, path);
    const Result<std::optional<Stated>> stated = m_fields.integer(names, 1, mostWidth);
    if (!stated)
        return stated.error();
    if (!*stated)
        return m_fields.missing(*names.begin(), "a size of the state of its layers");
    return **stated;
}

Result<Stated> MixerBuilder::hiddenSize() const
{
    return number({"hidden_size", "d_model", "n_embd"}, 0, "state", "width");
}

Source MixerBuilder::noted(Source source, std::string note)
{
    if (source.kind != Source::Kind::Assumption) // whose note is the assumption itself
        source.note = source.note.empty() ? std::move(note) : source.note + " " + note;
    return source;
}

Source MixerBuilder::definition(std::string note)
{
    Source out;
    out.kind = Source::Kind::Definition;
    out.name = "the layer";
    out.note = std::move(note);
    return out;
}

void MixerBuilder::add(const char* id, TensorRole role, const Stated& heads, const Stated& width, std::int64_t entries,
    ElementType type, const Source& typeSource)
{
    StateTensor tensor;
    tensor.id = id;
    tensor.role = role;
    tensor.heads = heads.value;
    tensor.width = width.value;
    tensor.elementType = type;
    tensor.growth.form = GrowthForm::Fixed;
    tensor.growth.entries = entries;
    m_state.add(tensor, heads.source, width.source);
    m_state.sources[fmt::format("tensors.{}.elementType", id)] = typeSource;
}

void MixerBuilder::addConvolution(const char* id, const Stated& heads, const Stated& width, const Stated& kernel)
{
    if (kernel.value == 1)
        return; // keeps nothing
    const auto modelType = m_reading.model.provenance.find("dtype");
    add(id, TensorRole::ConvolutionState, heads, width, kernel.value - 1, m_reading.model.dtype,
        modelType ? *modelType : Source {});
    m_state.sources[fmt::format("tensors.{}.entries", id)] = noted(kernel.source, "the kernel less one");
}

Result<void> MixerBuilder::addRecurrent(const char* id, const Stated& heads, const Stated& width,
    std::initializer_list<std::string_view> names, ElementType otherwise, const char* why)
{
    ElementType type = otherwise;
    Source source = definition(why);
    if (const auto stated = m_fields.find(names)) {
        const Result<std::string> name = stated->string();
        if (!name)
            return name.error();
        const std::optional<ElementType> known = elementTypeNamed(*name);
        if (!known)
            return stated->error("import.unsupported", "not an element type of recurrent state that is known",
                "float32, bfloat16 or float16");
        type = *known;
        source = m_fields.fileSource(stated->pointer());
    } else if (otherwise == m_reading.model.dtype) {
        const std::string text = fmt::format(
            "The file does not state the element type of the recurrent state: the model's own, {}, was taken.",
            factsOf(type).name);
        const std::string_view field = names.size() == 0 ? std::string_view("dtype") : *names.begin();
        m_reading.model.assumptions.push_back({"import.state_type_default", text,
            fmt::format("worksheet.groups.{}.tensors.{}.elementType", m_state.group.id, id)});
        source = m_fields.assumption(m_fields.pointer(field), text);
    }
    add(id, TensorRole::RecurrentState, heads, width, 1, type, source);
    return {};
}

Result<LayerState> MixerBuilder::finish()
{
    for (const StateTensor& tensor : m_state.group.tensors) {
        if (tensor.heads > mostHeads || tensor.width > mostWidth)
            return Error {"json.range", "the state of a layer is larger than any that is known",
                {m_fields.root().file(), m_state.sources["tensors." + tensor.id + ".width"].at},
                fmt::format("{} × {} elements", tensor.heads, tensor.width),
                fmt::format("at most {} × {}", mostHeads, mostWidth)};
    }
    return std::move(m_state);
}

} // namespace kvw
