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

// A response body that a thread writes, blocking, while the connection reads it.
//
// Guarantees: buffers at most one window; Write blocks while the peer does not read, and fails when
//   the connection is closed.
// Threads: one thread writes; the connection's event loop reads.
class BodyPipe {
 public:
  BodyPipe();
  ~BodyPipe();
  BodyPipe(const BodyPipe&) = delete;
  BodyPipe& operator=(const BodyPipe&) = delete;

  // For Exchange::Stream, which provides the waker. Call once.
  std::unique_ptr<net::BodySource> Source();
  void SetWaker(std::shared_ptr<net::Waker> waker);

  // Unavailable when the reader is gone; or the context's error.
  Status Write(const Context& ctx, std::string bytes);
  // Ends the body. Implied by the destructor.
  void End();

 private:
  struct Shared;
  class PipeSource;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace cox::kubelet
