// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/http.h"

namespace cox::apiserver {

// A body that one thread writes while a connection sends it.
//
// Guarantees: no more than a window of it waits; a writer who is ahead waits for the reader.
// Threads: the writer's side by one thread; the source is the connection's.
class PipedBody : public std::enable_shared_from_this<PipedBody> {
 public:
  // Made once, and given to the exchange.
  std::unique_ptr<net::BodySource> MakeSource();
  void set_waker(std::shared_ptr<net::Waker> waker) { waker_ = std::move(waker); }

  // Unavailable when nobody reads any more.
  Status Write(const Context& ctx, Bytes bytes);
  void End();
  // Stops `ctx` when the reader is gone.
  void StopWhenLeft(const Context& ctx);

 private:
  class Source;
  static constexpr size_t kWindow = size_t{256} * 1024;

  void Leave();

  std::shared_ptr<net::Waker> waker_;  // the writer's
  Mutex mu_;
  CondVar changed_;
  std::deque<Bytes> waiting_ COX_GUARDED_BY(mu_);
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  bool left_ COX_GUARDED_BY(mu_) = false;
  std::vector<Context> stopped_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver
