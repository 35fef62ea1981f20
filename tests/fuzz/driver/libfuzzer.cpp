// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Beside libFuzzer's own main(): fuzz_NAME --seeds=FOLDER writes the seeds there, which libFuzzer is then given.

#include "fuzz/fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments)
{
    for (int i = 1; i < *count; ++i) {
        const std::string_view argument = (*arguments)[i];
        constexpr std::string_view option = "--seeds=";
        if (!argument.starts_with(option))
            continue;
        const std::filesystem::path folder(argument.substr(option.size()));
        std::filesystem::create_directories(folder);
        int number = 0;
        for (const std::string& seed : kvw::fuzz::seeds()) {
            std::ofstream file(folder / ("seed" + std::to_string(number++)), std::ios::binary);
            file.write(seed.data(), static_cast<std::streamsize>(seed.size()));
            if (!file.flush()) {
                std::fprintf(stderr, "a seed cannot be written to %s\n", folder.c_str());
                std::exit(1);
            }
        }
        std::exit(0);
    }
    return 0;
}
