// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "workload/request.h"

#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

/// The cache rules once more, in the plainest form there is: lists, maps and brute force. Nothing here comes from
/// core/cache; of the product it uses only a request's tokens. The model check compares the two step by step.
namespace naive {

struct Pool
{
    int blocks = 0;
    int held = 0;
};

struct Group
{
    int pool = 0;
    int blockTokens = 1;
    int window = 0; ///< 0: everything is retained
};

struct Rules
{
    std::vector<Pool> pools;
    std::vector<Group> groups;
    bool caching = true;
    bool tailsFirst = true;
    bool unhashedToFront = true;
    bool recomputesLast = true;
};

/// Who asks for which request. The domain is public when it is 0.
struct Asker
{
    const kvw::Request* request = nullptr;
    std::uint32_t domain = 0;
    std::string domainKey;
};

/// What a block holds, in full: nothing is hashed.
struct Identity
{
    int group = 0;
    std::uint32_t domain = 0;
    std::string adapter;
    std::string tokens; ///< all tokens from the start of the request, four bytes each

    bool operator<(const Identity& other) const;
    bool operator==(const Identity& other) const;
};

struct Block
{
    int references = 0;
    bool held = false;
    bool hasIdentity = false;
    Identity identity;
    int group = 0;
    std::uint16_t tenant = 0;
    std::uint32_t domain = 0;
};

struct Hit
{
    int tokens = 0;
    std::string cause;
    std::vector<std::vector<int>> blocks; ///< −1: not needed
};

struct Holder
{
    std::vector<std::vector<int>> tables; ///< by group; −1: dropped
    std::vector<int> identified; ///< by group: leading blocks that have an identity
    std::uint32_t domain = 0;
    std::uint16_t tenant = 0;
};

class Cache
{
public:
    explicit Cache(Rules rules);

    Hit lookup(const Asker& asker, int tokens) const;
    std::vector<int> needed(const Asker& asker, const Hit& hit, int tokens) const;
    bool allocate(const Asker& asker, const Hit& hit, int computed, int added, int keepFree);
    void release(std::uint32_t request);

    const std::vector<std::vector<Block>>& blocks() const { return m_blocks; }
    const std::vector<std::list<int>>& queues() const { return m_queues; }
    const std::map<std::uint32_t, Holder>& holders() const { return m_holders; }
    int evictions() const { return m_evictions; }

private:
    int find(const Identity& identity) const;
    bool serves(int group, int tokens, const std::vector<int>& there) const;
    std::string cause(const Identity& missing) const;
    void giveBack(int pool, const std::vector<int>& blocks);
    void dropPassed(Holder& holder, int computed);
    int take(int group, const Asker& asker);

    Rules m_rules;
    std::vector<std::vector<Block>> m_blocks; ///< by pool
    std::vector<std::list<int>> m_queues; ///< by pool, next victim first
    std::map<Identity, std::vector<int>> m_index; ///< in order of indexing
    std::set<Identity> m_everIndexed;
    std::map<std::uint32_t, Holder> m_holders;
    int m_evictions = 0;
};

} // namespace naive
