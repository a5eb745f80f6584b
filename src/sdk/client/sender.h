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

// Sends requests through a transport with retries (see Retry), counts them, and logs warnings of
// the server.
//
// Threads: all methods may be called concurrently.
// Errors: those of the transport. Responses with any status code are returned as responses.
class Sender {
 public:
  Sender(std::shared_ptr<Transport> transport, const Config& config,
         std::shared_ptr<ClientMetrics> metrics);

  // Creates the request for each attempt, so that it can be moved to the transport without a copy
  // for retries.
  using MakeRequest = std::function<net::Request()>;
  Result<net::Response> Do(Context& ctx, const MakeRequest& make);
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, const MakeRequest& make);

  // Applies Config::timeout, if set, to a request that is not a stream.
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
