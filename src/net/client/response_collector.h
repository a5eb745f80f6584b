// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "base/mutex.h"
#include "net/client.h"

namespace cox::net {

// Waits for a whole response.
class ResponseCollector final : public ResponseObserver {
 public:
  // For an upgrade: collects the 101 or the server's other response, truncated to kMaxErrorBody
  // bytes.
  static constexpr size_t kMaxErrorBody = 64 * 1024;
  ResponseCollector() : max_bytes_(kMaxErrorBody), cut_(true) {}
  // TooLarge if the body is larger.
  explicit ResponseCollector(size_t max_bytes) : max_bytes_(max_bytes), cut_(false) {}

  void OnHeaders(int status, Headers headers) override {
    response_.status = status;
    response_.headers = std::move(headers);
  }
  void OnData(std::string_view bytes) override {
    if (full_) return;
    const size_t room = max_bytes_ - body_.size();
    body_.append(bytes.substr(0, room));
    if (bytes.size() <= room) return;
    // The waiter does not wait for the rest, which may be endless, but cancels the call.
    full_ = true;
    Finish(cut_ ? Status() : Status::TooLarge("the response is too large"));
  }
  void OnEnd(const Status& status) override {
    if (!full_) Finish(status);
  }

  Status Wait(Context& ctx) {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return done_; }));
    return status_;
  }
  // REQUIRES: Wait has returned OK.
  Response Take() {
    if (!body_.empty()) response_.body.push_back(Bytes(std::move(body_)));
    return std::move(response_);
  }

 private:
  void Finish(const Status& status) {
    MutexLock lock(mu_);
    done_ = true;
    status_ = status;
    changed_.NotifyAll();
  }

  const size_t max_bytes_;
  const bool cut_;
  bool full_ = false;  // loop thread only
  // Used by the loop thread until done_, then by the waiter.
  Response response_;
  std::string body_;
  Mutex mu_;
  CondVar changed_;
  bool done_ COX_GUARDED_BY(mu_) = false;
  Status status_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::net
