// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authn/service_account/verified_tokens.h"

#include <openssl/sha.h>

#include <cstring>

namespace cox::apiserver {

VerifiedTokens::Digest VerifiedTokens::Hash(std::string_view token) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return digest;
}

size_t VerifiedTokens::DigestHash::operator()(const Digest& digest) const {
  size_t hash = 0;
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

VerifiedTokenPtr VerifiedTokens::Find(const Digest& digest, Clock::SteadyTime now) const {
  const Shard& shard = shards_[digest.back() % kShards];
  MutexLock lock(shard.mu);
  const auto at = shard.tokens.find(digest);
  if (at == shard.tokens.end() || at->second.until < now) return nullptr;
  return at->second.token;
}

void VerifiedTokens::Remember(const Digest& digest, VerifiedTokenPtr token, Clock::SteadyTime now) {
  Shard& shard = shards_[digest.back() % kShards];
  MutexLock lock(shard.mu);
  if (shard.tokens.size() >= kPerShard) shard.tokens.clear();
  shard.tokens.insert_or_assign(digest, Kept{std::move(token), now + kKeep});
}

}  // namespace cox::apiserver
