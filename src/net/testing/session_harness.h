// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"
#include "net/server/http1_session.h"
#include "net/server/http2_session.h"

namespace cox::net {

// A server session without a socket, on the calling thread, with a manual clock: for tests and
// fuzzers.
class SessionHarness final : public Session::Host {
 public:
  explicit SessionHarness(bool http2, ServerOptions options = {})
      : options(std::move(options)), http2_(http2) {
    loop->AdoptThisThread();
    shared = std::make_unique<SessionShared>(
        SessionShared{this->options, handler_, counters, context, loop});
    auto peer = std::make_shared<const Peer>();
    if (http2_) {
      session = std::make_unique<Http2Session>(*shared, std::move(peer), *this);
    } else {
      session = std::make_unique<Http1Session>(*shared, std::move(peer), *this);
    }
  }
  ~SessionHarness() override {
    session.reset();
    exchanges.clear();
    loop->Stop();
  }

  // Sends bytes to the session and returns its whole output.
  std::string Exchange(std::string_view bytes) {
    session->Receive(bytes);
    return Output();
  }
  std::string Output() {
    loop->Poll();
    std::string all;
    char buffer[EventLoop::kOutputChunk];
    while (const size_t size = session->Produce(buffer, sizeof(buffer))) all.append(buffer, size);
    return all;
  }
  void Advance(Clock::Duration by) {
    clock.Advance(by);
    session->CheckTime(clock.Monotonic());
  }
  void OnOutputReady() override { ++outputs_ready; }

  TestClock clock;
  Context context{clock};
  ServerOptions options;
  ServerCounters counters;
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>(clock);
  std::unique_ptr<SessionShared> shared;
  std::unique_ptr<Session> session;
  int outputs_ready = 0;
  // The handler; without it, exchanges are kept in `exchanges`.
  std::function<void(ExchangePtr)> on_request;
  std::vector<ExchangePtr> exchanges;

 private:
  const bool http2_;
  Handler handler_ = [this](ExchangePtr exchange) {
    if (on_request) return on_request(std::move(exchange));
    exchanges.push_back(std::move(exchange));
  };
};

}  // namespace cox::net
