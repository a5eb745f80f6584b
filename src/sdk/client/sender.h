// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "base/context.h"
#include "base/result.h"
#include "coxswain/config.h"
#include "coxswain/transport.h"
#include "sdk/client/metrics.h"
#include "sdk/client/warnings.h"

namespace cox::sdk {

// Sends requests through a transport, again where Retry says so; counts them and logs what the
// server warns of.
//
// Threads: all methods may be called concurrently.
// Errors: as the transport's. Answers, of whatever code, are answers.
class Sender {
 public:
  Sender(std::shared_ptr<Transport> transport, const Config& config,
         std::shared_ptr<ClientMetrics> metrics);

  // Makes the request anew for each attempt: so the usual one is moved to the transport, and
  // nothing is copied for those that never come.
  using MakeRequest = std::function<net::Request()>;
  Result<net::Response> Do(Context& ctx, const MakeRequest& make);
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, const MakeRequest& make);

  // `ctx` for a request that is not to last: with Config::timeout, if there is one.
  Context Limited(const Context& ctx) const {
    return timeout_.count() > 0 ? ctx.WithTimeout(timeout_) : ctx;
  }
  Transport& transport() { return *transport_; }
  const std::string& user_agent() const { return user_agent_; }

 private:
  template <class Answer, class Send>
  Result<Answer> SendWithRetries(Context& ctx, const MakeRequest& make, const Send& send);

  const std::shared_ptr<Transport> transport_;
  const std::chrono::milliseconds retry_for_;
  const std::chrono::milliseconds timeout_;
  const std::string user_agent_;
  RequestMeter meter_;
  Warnings warnings_;
};

}  // namespace cox::sdk
