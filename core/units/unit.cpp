// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/unit.h"

namespace kvw {

std::string_view unitName(Unit unit)
{
    switch (unit) {
    case Unit::None:
        return "";
    case Unit::Byte:
        return "bytes";
    case Unit::Token:
        return "tokens";
    case Unit::Block:
        return "blocks";
    case Unit::Entry:
        return "entries";
    case Unit::Element:
        return "elements";
    case Unit::Bit:
        return "bits";
    case Unit::Layer:
        return "layers";
    case Unit::Head:
        return "heads";
    case Unit::Sequence:
        return "sequences";
    case Unit::Request:
        return "requests";
    case Unit::Rank:
        return "ranks";
    case Unit::Step:
        return "steps";
    case Unit::BytesPerToken:
        return "bytes/token";
    case Unit::BytesPerEntry:
        return "bytes/entry";
    case Unit::BytesPerElement:
        return "bytes/element";
    case Unit::BytesPerBlock:
        return "bytes/block";
    case Unit::BytesPerSequence:
        return "bytes/sequence";
    case Unit::BlocksPerSequence:
        return "blocks/sequence";
    case Unit::EntriesPerSequence:
        return "entries/sequence";
    case Unit::BytesPerSecond:
        return "bytes/second";
    case Unit::Seconds:
        return "seconds";
    case Unit::Ratio:
        break;
    }
    return "ratio";
}

bool isByteUnit(Unit unit)
{
    switch (unit) {
    case Unit::Byte:
    case Unit::BytesPerToken:
    case Unit::BytesPerEntry:
    case Unit::BytesPerBlock:
    case Unit::BytesPerSequence:
        return true;
    default:
        return false;
    }
}

} // namespace kvw
