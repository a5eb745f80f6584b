// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "apiserver/authn/service_account/bound_objects.h"
#include "apiserver/authn/service_account/claims.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace cox::apiserver {

// A token whose signature was found good.
struct VerifiedToken {
  ServiceAccountClaims claims;
  UserInfo user;
  mutable BoundObjects::Memory memory;
};
using VerifiedTokenPtr = std::shared_ptr<const VerifiedToken>;

// Remembers verified tokens for a while, so that a request does not pay for a signature each time.
//
// Tokens are known by their SHA-256: the text of none is kept, and looking one up takes the same
// time whatever it shares with another. Bounded: when it is full, all are forgotten and verified
// again.
// Threads: all methods may be called concurrently; locks are held for a lookup, in one of several
//   shards.
class VerifiedTokens {
 public:
  using Digest = std::array<unsigned char, 32>;
  static Digest Hash(std::string_view token);

  // Null if it is not known, or since too long.
  VerifiedTokenPtr Find(const Digest& digest, Clock::SteadyTime now) const;
  void Remember(const Digest& digest, VerifiedTokenPtr token, Clock::SteadyTime now);

  static constexpr std::chrono::seconds kKeep{60};
  static constexpr size_t kShards = 16;
  static constexpr size_t kPerShard = 512;

 private:
  struct DigestHash {
    size_t operator()(const Digest& digest) const;
  };
  struct Kept {
    VerifiedTokenPtr token;
    Clock::SteadyTime until;
  };
  struct Shard {
    mutable Mutex mu;
    std::unordered_map<Digest, Kept, DigestHash> tokens COX_GUARDED_BY(mu);
  };

  std::array<Shard, kShards> shards_;
};

}  // namespace cox::apiserver
