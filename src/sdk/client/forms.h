// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "base/mutex.h"
#include "coxswain/resource.h"
#include "object/codec.h"

namespace cox::sdk {

// In which form objects of a resource travel: protobuf for built-in kinds, JSON for all else, and
// for resources whose server said (406, 415) that it has no protobuf.
//
// Threads: all methods may be called concurrently.
class Forms {
 public:
  explicit Forms(bool prefer_protobuf) : prefer_protobuf_(prefer_protobuf) {}

  Format Of(const Resource& resource) const;
  // Of its metadata alone, which has a protobuf form for every kind.
  Format OfMetadata(const Resource& resource) const;
  void UseJson(const Resource& resource);

 private:
  bool OnlyJson(const Resource& resource) const;

  const bool prefer_protobuf_;
  std::atomic<bool> any_ = false;  // of only_json_: mostly there is none, and no need to look
  mutable SharedMutex mu_;
  std::set<std::string> only_json_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
