// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "apiserver/filters/authn/service_account/claims.h"
#include "apiserver/registry/served/registry.h"

namespace cox::apiserver {

// Checks in the server's caches that the objects of a token still exist.
//
// An object is decoded once per change instead of once per request: Memory contains the revisions
// that passed the check. Each token has its own Memory.
// Threads: All methods may be called concurrently; they do not block.
class BoundObjects {
 public:
  explicit BoundObjects(const Registry& registry);

  struct Memory {
    std::atomic<storage::Revision> account = 0;
    std::atomic<storage::Revision> bound = 0;
  };
  // Errors: Unauthorized with upstream's texts. `now` is in seconds since 1970.
  Status Check(const ServiceAccountClaims& claims, int64_t now, Memory& memory) const;

 private:
  const ResourceStore& accounts_;
  const ResourceStore& pods_;
  const ResourceStore& secrets_;
  const ResourceStore& nodes_;
};

}  // namespace cox::apiserver
