// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/model_spec.h"

namespace kvw {

std::shared_ptr<const Source> Provenance::find(const std::string& path) const
{
    const auto found = m_entries.find(path);
    return found == m_entries.end() ? nullptr : found->second;
}

void Provenance::set(const std::string& path, Source source)
{
    m_entries[path] = std::make_shared<const Source>(std::move(source));
}

void Provenance::remove(const std::string& path)
{
    m_entries.erase(path);
}

void Provenance::removeBelow(const std::string& path)
{
    remove(path);
    const std::string prefix = path + ".";
    auto at = m_entries.lower_bound(prefix);
    while (at != m_entries.end() && at->first.starts_with(prefix))
        at = m_entries.erase(at);
}

void Provenance::adopt(const Provenance& other, const std::string& prefix)
{
    for (const auto& [path, source] : other.entries())
        m_entries[prefix + path] = source;
}

const std::map<std::string, std::shared_ptr<const Source>>& Provenance::entries() const
{
    return m_entries;
}

} // namespace kvw
