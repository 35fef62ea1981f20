// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_config.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace kvw::test {

inline QString q(const std::string& text)
{
    return QString::fromStdString(text);
}

inline QString q(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// The groups of a model in one line, as tables of expected values have them:
/// "full 18 [1-35:2] k 8x64 v 8x64; sliding 18 [0-34:2] k 8x64 v 8x64 window 128".
inline QString groupsText(const ModelSpec& model)
{
    QStringList out;
    for (const LayerGroup& group : model.groups) {
        QString text = QStringLiteral("%1 %2 [%3]").arg(q(group.id)).arg(group.layers).arg(q(group.layerIndices));
        for (const StateTensor& tensor : group.tensors)
            text += QStringLiteral(" %1 %2x%3").arg(q(tensor.id)).arg(tensor.heads).arg(tensor.width);
        if (const auto limit = group.retentionLimit())
            text += QStringLiteral(" window %1").arg(*limit);
        out += text;
    }
    return out.join(QStringLiteral("; "));
}

/// The groups of a model with the growth of every tensor that is not one entry a token, and its element type where it
/// has one of its own: "kda 3 [0-2] conv 4x24 3 (fixed) bf16, state 4x64 1 (fixed) fp32; draft 1 [4] k 2x8, v 2x8
/// speculation".
inline QString stateText(const ModelSpec& model)
{
    QStringList out;
    for (const LayerGroup& group : model.groups) {
        QStringList tensors;
        for (const StateTensor& tensor : group.tensors) {
            QString text = QStringLiteral("%1 %2x%3").arg(q(tensor.id)).arg(tensor.heads).arg(tensor.width);
            if (const std::string growth = growthText(tensor.growth); growth != "v")
                text += u' ' + q(growth);
            if (tensor.elementType != ElementType::NotStated)
                text += u' ' + q(factsOf(tensor.elementType).name);
            tensors += text;
        }
        out += QStringLiteral("%1 %2 [%3]%4%5%6")
                   .arg(q(group.id))
                   .arg(group.layers)
                   .arg(q(group.layerIndices),
                       tensors.isEmpty() ? QString() : u' ' + tensors.join(QStringLiteral(", ")),
                       group.readsGroup.empty() ? QString() : QStringLiteral(" reads ") + q(group.readsGroup),
                       group.use == GroupUse::Speculation ? QStringLiteral(" speculation") : QString());
    }
    return out.join(QStringLiteral("; "));
}

/// The ids of all assumptions, in order.
inline QString assumptionIds(const ModelSpec& model)
{
    QStringList out;
    for (const Assumption& assumption : model.assumptions)
        out += q(assumption.id);
    return out.join(u' ');
}

/// The ids of all diagnostics, in order; warnings have a mark.
inline QString diagnosticIds(const ModelSpec& model)
{
    QStringList out;
    for (const Diagnostic& diagnostic : model.diagnostics)
        out += q(diagnostic.id) + (diagnostic.severity == Severity::Note ? QString() : QStringLiteral("!"));
    return out.join(u' ');
}

/// groupsText(), or "code at" of the error.
inline QString outcome(const Result<ModelSpec>& model)
{
    return model ? groupsText(*model) : q(model.error().code) + u' ' + q(model.error().where.at);
}

/// stateText(), or "code at" of the error.
inline QString stateOutcome(const Result<ModelSpec>& model)
{
    return model ? stateText(*model) : outcome(model);
}

/// A small configuration: 256 tokens, 4 layers, hidden size 64, 8 query heads; `fields` come on top.
inline QByteArray config(const char* type, const QByteArray& fields = {})
{
    return QByteArray("{\"model_type\":\"") + type
        + R"(","vocab_size":256,"num_hidden_layers":4,"hidden_size":64,"num_attention_heads":8)"
        + (fields.isEmpty() ? "" : "," + fields) + "}";
}

/// config() with 2 key and value heads of width 8.
inline QByteArray shaped(const char* type, const QByteArray& fields = {})
{
    return config(type, R"("num_key_value_heads":2,"head_dim":8)" + (fields.isEmpty() ? "" : "," + fields));
}

/// "layer_types":[…] with one letter a layer: f full, s sliding, c chunked.
inline QByteArray layerTypes(const char* letters)
{
    QByteArray out;
    for (; *letters; ++letters) {
        out += out.isEmpty() ? "" : ",";
        out += *letters == 'f' ? "\"full_attention\""
            : *letters == 's'  ? "\"sliding_attention\""
                               : "\"chunked_attention\"";
    }
    return "\"layer_types\":[" + out + "]";
}

inline Result<ModelSpec> importText(const QByteArray& text)
{
    const auto document = parseJson(text.toStdString(), "t/config.json");
    return document ? importHuggingFaceConfig(*document) : Result<ModelSpec>(document.error());
}

} // namespace kvw::test
