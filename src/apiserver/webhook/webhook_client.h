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

// The client for all calls from the API server to webhooks (admission webhooks, TokenReview,
// SubjectAccessReview, audit backends, conversions).
//
//   auto connections = std::make_shared<WebhookConnections>(ctx, ResolveServices(registry));
//   COX_ASSIGN_OR_RETURN(WebhookClient client, WebhookClient::Create(connections, config));
//   Result<Value> answer = client.Post(ctx, json::Encode(review), std::chrono::seconds(10));
//
// Security: A webhook configuration contains an address that this server connects to from inside
//   the cluster's network. Therefore redirects are not followed (CVE-2020-8561), the size of a
//   response is limited, the name in the certificate is verified, and error messages contain only a
//   short excerpt of a response that is not a webhook's.
namespace cox::apiserver {

// The address of a Service's port. Errors: NotFound, or ServiceUnavailable with the reason.
struct ServiceAddress {
  std::string host;
  uint16_t port = 0;
};
using ServiceResolver = std::function<Result<ServiceAddress>(
    Context& ctx, const std::string& ns, const std::string& name, uint16_t port)>;

// The connections to webhooks: one net::Client per server and identity, kept for later calls and
// shared by webhooks that differ only in their path.
//
// Bounded: With more than `limit` servers, the least recently used one is dropped. Its calls in
// progress continue.
// Threads: All methods may be called concurrently.
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
  // The clients use `ctx`'s clock. Without a resolver, services cannot be called.
  explicit WebhookConnections(const Context& ctx, ServiceResolver resolver = nullptr,
                              size_t limit = 64);

  // Errors: BadRequest for certificates that do not parse.
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

// A call in progress. Destroying it cancels the call.
class WebhookCall {
 public:
  virtual ~WebhookCall() = default;
  // Blocks until the response arrives; may be called once. Errors: as WebhookClient::Post.
  virtual Result<Value> Wait() = 0;
  // The time of the response, which may be long before Wait returns if several calls run
  // concurrently. REQUIRES: Wait has returned.
  virtual Clock::SteadyTime ended() const = 0;
  // The same if only the code matters; the body is ignored.
  virtual Status WaitForCode() = 0;
};

// One webhook. Cheap to copy.
//
// Threads: All methods may be called concurrently.
// Errors: With the texts of upstream's client, which users know and search for:
//   - `Post "https://...": dial tcp 10.0.0.1:443: connect: connection refused`
//     (ServiceUnavailable) or `Post "https://...": context deadline exceeded` (Timeout) if there
//     was no response;
//   - with the reason of the code if it is not 200 to 206: `an error on the server ("...") has
//     prevented the request from succeeding` (InternalError);
//   - InternalError if the response is not JSON, and RequestEntityTooLarge if it is too large.
class WebhookClient {
 public:
  // The maximum size of a response: a patch as large as the largest request, in base64, with some
  // margin.
  static constexpr size_t kMaxResponse = size_t{5} * 1024 * 1024;

  // Errors: BadRequest for an invalid URL.
  static Result<WebhookClient> Create(std::shared_ptr<WebhookConnections> connections,
                                      WebhookConfig config);

  // Sends `json` (JSON text) without waiting, so that one thread can run several calls. `timeout`
  // is sent to the server in the query and limits the call, as does ctx's deadline.
  std::unique_ptr<WebhookCall> Start(const Context& ctx, std::string json,
                                     std::optional<std::chrono::seconds> timeout = {}) const;
  // Start and Wait.
  Result<Value> Post(const Context& ctx, std::string json,
                     std::optional<std::chrono::seconds> timeout = {}) const;
  // The same for webhooks whose response body is irrelevant.
  Status Send(const Context& ctx, std::string json) const;

  // The complete URL, without the timeout: "https://hook.example.com/".
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
