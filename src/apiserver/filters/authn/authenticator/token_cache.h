// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace cox::apiserver {

// Tokens are identified by their SHA-256, so that no token text is kept in memory and lookups leak
// no timing information.
using TokenDigest = std::array<unsigned char, 32>;
TokenDigest DigestOf(std::string_view token);

// A bounded cache of token results with expiry. A full shard is cleared.
//
// Threads: All methods may be called concurrently. A lock is held per lookup, in one of several
//   shards.
template <class T>
class TokenCache {
 public:
  using Ptr = std::shared_ptr<const T>;

  // Null if the token is unknown or its entry has expired.
  Ptr Find(const TokenDigest& digest, Clock::SteadyTime now) const {
    const Shard& shard = shards_[digest.back() % kShards];
    MutexLock lock(shard.mu);
    const auto at = shard.tokens.find(digest);
    if (at == shard.tokens.end() || at->second.until < now) return nullptr;
    return at->second.found;
  }
  void Remember(const TokenDigest& digest, Ptr found, Clock::SteadyTime until) {
    Shard& shard = shards_[digest.back() % kShards];
    MutexLock lock(shard.mu);
    if (shard.tokens.size() >= kPerShard) shard.tokens.clear();
    shard.tokens.insert_or_assign(digest, Kept{std::move(found), until});
  }

  static constexpr size_t kShards = 16;
  static constexpr size_t kPerShard = 512;

 private:
  struct DigestHash {
    size_t operator()(const TokenDigest& digest) const {
      size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof(hash));
      return hash;
    }
  };
  struct Kept {
    Ptr found;
    Clock::SteadyTime until;
  };
  struct Shard {
    mutable Mutex mu;
    std::unordered_map<TokenDigest, Kept, DigestHash> tokens COX_GUARDED_BY(mu);
  };

  std::array<Shard, kShards> shards_;
};

}  // namespace cox::apiserver
