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

// A response body that one thread writes while a connection sends it.
//
// Guarantees: buffers at most one window; a writer that is ahead blocks until the reader catches
// up.
// Threads: one thread writes; the source is used by the connection's thread.
class PipedBody : public std::enable_shared_from_this<PipedBody> {
 public:
  // Must be called once; the result is passed to the exchange.
  std::unique_ptr<net::BodySource> MakeSource();
  void set_waker(std::shared_ptr<net::Waker> waker) { waker_ = std::move(waker); }

  // Errors: Unavailable after the reader has been destroyed.
  Status Write(const Context& ctx, Bytes bytes);
  void End();
  // Stops `ctx` when the reader is destroyed.
  void StopOnReaderClosed(const Context& ctx);

 private:
  class Source;
  static constexpr size_t kWindow = size_t{256} * 1024;

  void CloseReader();

  std::shared_ptr<net::Waker> waker_;  // set and used by the writer
  Mutex mu_;
  CondVar changed_;
  std::deque<Bytes> waiting_ COX_GUARDED_BY(mu_);
  size_t bytes_ COX_GUARDED_BY(mu_) = 0;
  bool ended_ COX_GUARDED_BY(mu_) = false;
  bool reader_closed_ COX_GUARDED_BY(mu_) = false;
  std::vector<Context> stopped_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::apiserver
