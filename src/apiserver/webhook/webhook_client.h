// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "apiserver/webhook/webhook_config.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/client.h"
#include "object/type/value.h"

// Calls out: the one way in which the API server asks other servers (admission webhooks,
// TokenReview, SubjectAccessReview, audit sinks, conversions).
//
//   auto connections = std::make_shared<WebhookConnections>(ctx, ResolveServices(registry));
//   COX_ASSIGN_OR_RETURN(WebhookClient client, WebhookClient::Create(connections, config));
//   Result<Value> answer = client.Post(ctx, json::Encode(review), std::chrono::seconds(10));
//
// Whoever configures a webhook chooses an address that this server will connect to from inside the
// cluster's network. So: no redirect is followed (CVE-2020-8561), an answer's size is bounded, the
// name in the certificate is verified, and what a server that is no webhook answers with is not
// repeated beyond a short excerpt.
namespace cox::apiserver {

// The address of a Service's port. NotFound, or ServiceUnavailable with the reason.
struct ServiceAddress {
  std::string host;
  uint16_t port = 0;
};
using ServiceResolver = std::function<Result<ServiceAddress>(
    Context& ctx, const std::string& ns, const std::string& name, uint16_t port)>;

// The connections to webhooks: one net::Client for each server and identity, kept for the calls
// that follow and shared by webhooks that differ only in their path.
//
// Bounded: where there are more servers than `limit`, the one that was not called for longest goes.
//   Calls on it come to their end.
// Threads: all methods may be called concurrently.
class WebhookConnections {
 public:
  struct Target {
    std::string host;
    uint16_t port = 0;
    bool tls = true;
    bool insecure = false;
    std::string server_name, ca_pem, certificate_pem, key_pem;

    friend auto operator<=>(const Target&, const Target&) = default;
  };
  // The clients live on `ctx`'s clock. Without a resolver, services cannot be called.
  explicit WebhookConnections(const Context& ctx, ServiceResolver resolver = nullptr,
                              size_t limit = 64);

  // BadRequest for certificates that do not parse.
  Result<std::shared_ptr<net::Client>> To(const Target& target);
  Result<ServiceAddress> Resolve(Context& ctx, const WebhookConfig::Service& service) const;
  size_t size() const;

 private:
  struct Kept {
    std::shared_ptr<net::Client> client;
    uint64_t last_use = 0;
  };

  const Context ctx_;
  const ServiceResolver resolver_;
  const size_t limit_;
  mutable Mutex mu_;
  uint64_t uses_ COX_GUARDED_BY(mu_) = 0;
  std::map<Target, Kept> kept_ COX_GUARDED_BY(mu_);
};

// A call on its way. Dropping it cancels it.
class WebhookCall {
 public:
  virtual ~WebhookCall() = default;
  // Blocks for the answer; call it once. Errors as WebhookClient::Post.
  virtual Result<Value> Wait() = 0;
  // When the answer was there, which may be long before Wait: of several calls that run at once
  // all but one are waited for late. REQUIRES: Wait has returned.
  virtual Clock::SteadyTime ended() const = 0;
  // The same where only the code matters, and the body may be anything or nothing.
  virtual Status WaitForCode() = 0;
};

// One webhook. Small; copies are as good as the original.
//
// Threads: all methods may be called concurrently.
// Errors: in the words of upstream's client, which users know and search for:
//   - `Post "https://...": dial tcp 10.0.0.1:443: connect: connection refused`
//   (ServiceUnavailable),
//     `Post "https://...": context deadline exceeded` (Timeout) where there was no answer;
//   - with the reason that belongs to the code where the server answered other than 200 to 206:
//     `an error on the server ("...") has prevented the request from succeeding` (InternalError);
//   - InternalError where the answer is no JSON, and RequestEntityTooLarge where it is too large.
class WebhookClient {
 public:
  // What an answer may have: a patch as large as the largest request, in base64, and some.
  static constexpr size_t kMaxAnswer = size_t{5} * 1024 * 1024;

  // BadRequest if the URL is none.
  static Result<WebhookClient> Create(std::shared_ptr<WebhookConnections> connections,
                                      WebhookConfig config);

  // Sends `json` (JSON text) and returns at once: several calls may be on their way on one thread.
  // `timeout` is told to the server in the query and ends the call; ctx's deadline ends it too.
  std::unique_ptr<WebhookCall> Start(const Context& ctx, std::string json,
                                     std::optional<std::chrono::seconds> timeout = {}) const;
  // Start and Wait.
  Result<Value> Post(const Context& ctx, std::string json,
                     std::optional<std::chrono::seconds> timeout = {}) const;
  // The same to one that has nothing to say but whether it took it.
  Status Send(const Context& ctx, std::string json) const;

  // In full, without the timeout: "https://hook.example.com/".
  std::string url() const;

 private:
  WebhookClient(std::shared_ptr<WebhookConnections> connections, WebhookConfig config,
                WebhookUrl url);
  Result<std::shared_ptr<net::Client>> Connection(Context& ctx) const;

  std::shared_ptr<WebhookConnections> connections_;
  std::shared_ptr<const WebhookConfig> config_;
  WebhookUrl url_;
};

}  // namespace cox::apiserver
