// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "apiserver/filters/authn/service_account/claims.h"
#include "apiserver/registry/served/registry.h"

namespace cox::apiserver {

// Whether what a token names is still there, from the server's own caches.
//
// An object is decoded once per change of it and not per request: a Memory remembers at which
// revisions it was found good. A Memory belongs to one token.
// Threads: all methods may be called concurrently; nothing blocks.
class BoundObjects {
 public:
  explicit BoundObjects(const Registry& registry);

  struct Memory {
    std::atomic<storage::Revision> account = 0;
    std::atomic<storage::Revision> bound = 0;
  };
  // Unauthorized with upstream's texts. `now` in seconds since 1970.
  Status Check(const ServiceAccountClaims& claims, int64_t now, Memory& memory) const;

 private:
  const ResourceStore& accounts_;
  const ResourceStore& pods_;
  const ResourceStore& secrets_;
  const ResourceStore& nodes_;
};

}  // namespace cox::apiserver
