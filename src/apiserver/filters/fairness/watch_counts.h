// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "apiserver/request/request_info.h"
#include "base/mutex.h"

namespace cox::apiserver {

// The number of watches that a write must notify: those of the resource, of its namespace and of
// the object. Watches on the Pods of one node are not counted, because a write affects only one or
// two of them.
//
// Threads: All methods may be called concurrently.
class WatchCounts {
 public:
  WatchCounts() : state_(std::make_shared<State>()) {}

  // Registers a watch as long as the result lives. Null if it is not counted.
  std::shared_ptr<void> Begin(const RequestInfo& info, const Query& query);
  int64_t Interested(const RequestInfo& info) const;

 private:
  struct State {
    mutable Mutex mu;
    std::unordered_map<std::string, int64_t> counts COX_GUARDED_BY(mu);
  };
  const std::shared_ptr<State> state_;
};

}  // namespace cox::apiserver
