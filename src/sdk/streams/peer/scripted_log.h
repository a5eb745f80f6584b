// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "net/http.h"

namespace cox::sdk {

// The lines written by a scripted container, and their followers.
//
// Threads: all methods may be called concurrently.
class ScriptedLog : public std::enable_shared_from_this<ScriptedLog> {
 public:
  struct LogRequest {
    bool follow = false;
    bool timestamps = false;
    std::optional<size_t> tail_lines;
    std::optional<size_t> limit_bytes;
  };

  void Append(std::string line);
  // The container has ended: followers receive the end of the log.
  void End();
  // The lines as a response body. Pass the exchange's waker to AddWaker.
  std::unique_ptr<net::BodySource> Read(const LogRequest& request);
  void AddWaker(std::shared_ptr<net::Waker> waker);

 private:
  class Source;

  Mutex mu_;
  std::vector<std::string> lines_ COX_GUARDED_BY(mu_);
  bool ended_ COX_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<net::Waker>> wakers_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
