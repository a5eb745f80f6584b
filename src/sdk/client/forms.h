// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "base/mutex.h"
#include "coxswain/resource.h"
#include "object/codec.h"

namespace cox::sdk {

// Encoding of the objects of a resource: protobuf for built-in kinds; JSON for all others, and for
// resources whose server rejected protobuf (406, 415).
//
// Threads: all methods may be called concurrently.
class Forms {
 public:
  explicit Forms(bool prefer_protobuf) : prefer_protobuf_(prefer_protobuf) {}

  Format Of(const Resource& resource) const;
  // Encoding of metadata, which has a protobuf form for every kind.
  Format OfMetadata(const Resource& resource) const;
  void UseJson(const Resource& resource);

 private:
  bool OnlyJson(const Resource& resource) const;

  const bool prefer_protobuf_;
  std::atomic<bool> any_ = false;  // only_json_ is not empty; avoids the lock
  mutable SharedMutex mu_;
  std::set<std::string> only_json_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
