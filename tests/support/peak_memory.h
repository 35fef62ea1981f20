// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <QFile>

#include <cstdint>
#include <malloc.h>

// There where the core is built with the address sanitizer.
extern "C" void __asan_init() __attribute__((weak)); // NOLINT(bugprone-reserved-identifier)

namespace kvw::test {

/// The most memory that the process has had resident since the object was made, beyond what it had then. Linux only.
class PeakMemory
{
public:
    PeakMemory()
    {
        malloc_trim(0); // what is free already must not hide what is taken
        QFile clear(QStringLiteral("/proc/self/clear_refs"));
        m_works = clear.open(QIODevice::WriteOnly | QIODevice::Unbuffered) && clear.write("5") == 1;
        m_before = kibibytes("VmRSS:");
    }
    /// False where the system does not tell, and under the address sanitizer, which keeps what was freed.
    bool works() const { return m_works && m_before > 0 && !__asan_init; }
    std::int64_t kibibytesMore() const { return kibibytes("VmHWM:") - m_before; }

private:
    static std::int64_t kibibytes(const char* name)
    {
        QFile status(QStringLiteral("/proc/self/status"));
        if (!status.open(QIODevice::ReadOnly))
            return 0;
        for (const QByteArray& line : status.readAll().split('\n')) {
            if (line.startsWith(name))
                return line.mid(static_cast<qsizetype>(qstrlen(name))).trimmed().split(' ').at(0).toLongLong();
        }
        return 0;
    }

    bool m_works = false;
    std::int64_t m_before = 0;
};

} // namespace kvw::test
