// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/http.h"

namespace cox::kubelet {

// A response body that a thread writes, which may block, while the connection pulls.
//
// Guarantees: no more than a window is kept; Write waits while the peer takes nothing, and fails
//   when it is gone.
// Threads: one writes; the connection's loop pulls.
class BodyPipe {
 public:
  BodyPipe();
  ~BodyPipe();
  BodyPipe(const BodyPipe&) = delete;
  BodyPipe& operator=(const BodyPipe&) = delete;

  // For Exchange::Stream, which gives the waker. Once.
  std::unique_ptr<net::BodySource> Source();
  void SetWaker(std::shared_ptr<net::Waker> waker);

  // Unavailable when nobody reads any more; the context's reason.
  Status Write(const Context& ctx, std::string bytes);
  // That was all. Implied by the destructor.
  void End();

 private:
  struct Shared;
  class PipeSource;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace cox::kubelet
