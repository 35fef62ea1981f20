// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/built_in_data.h"

// The assembler puts the files into the program as they are: no copy in the source, and none to go out of step.
#define KVW_EMBED(name, file)                                                                                          \
    asm(".pushsection .rodata\n"                                                                                       \
        ".global kvw_" #name "_begin\n"                                                                                \
        ".global kvw_" #name "_end\n"                                                                                  \
        "kvw_" #name "_begin:\n"                                                                                       \
        ".incbin \"" file "\"\n"                                                                                       \
        "kvw_" #name "_end:\n"                                                                                         \
        ".byte 0\n"                                                                                                    \
        ".popsection\n");                                                                                              \
    extern "C" const char kvw_##name##_begin[];                                                                        \
    extern "C" const char kvw_##name##_end[];

KVW_EMBED(models, KVW_MODELS_JSON)
KVW_EMBED(gpus, KVW_GPUS_JSON)

namespace kvw {

std::string_view builtInModelsJson()
{
    return {kvw_models_begin, static_cast<std::size_t>(kvw_models_end - kvw_models_begin)};
}

std::string_view builtInGpusJson()
{
    return {kvw_gpus_begin, static_cast<std::size_t>(kvw_gpus_end - kvw_gpus_begin)};
}

} // namespace kvw
