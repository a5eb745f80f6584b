// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_client.h"

#include <algorithm>
#include <utility>

#include "apiserver/webhook/response.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

// The idle timeout of upstream's transport.
constexpr std::chrono::seconds kIdle{90};

// Receives a response, up to the maximum size.
class Receiver final : public net::ResponseObserver {
 public:
  explicit Receiver(Clock& clock) : clock_(clock) {}

  void OnHeaders(int status, net::Headers headers) override {
    answer_.status = status;
    answer_.content_type = headers.Get("content-type").value_or("");
  }
  void OnData(std::string_view bytes) override {
    if (too_large_) return;
    if (answer_.body.size() + bytes.size() > WebhookClient::kMaxResponse) {
      too_large_ = true;
      answer_.body = {};
      // The waiter drops the call, so the rest is not read.
      return Done(Status::TooLarge("the webhook's response is larger than " +
                                   std::to_string(WebhookClient::kMaxResponse) + " bytes"));
    }
    answer_.body.append(bytes);
  }
  void OnEnd(const Status& status) override { Done(status); }

  Status Wait(Context& ctx) {
    MutexLock lock(mu_);
    COX_RETURN_IF_ERROR(ctx.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return done_; }));
    return status_;
  }
  // REQUIRES: Wait has returned OK.
  WebhookResponse Take() { return std::move(answer_); }
  Clock::SteadyTime ended() const {
    MutexLock lock(mu_);
    return done_ ? ended_ : clock_.Monotonic();
  }

 private:
  void Done(const Status& status) {
    MutexLock lock(mu_);
    if (std::exchange(done_, true)) return;
    status_ = status;
    ended_ = clock_.Monotonic();
    changed_.NotifyAll();
  }

  Clock& clock_;
  // Owned by the event loop until done_, then by the waiter.
  WebhookResponse answer_;
  bool too_large_ = false;
  mutable Mutex mu_;
  CondVar changed_;
  bool done_ COX_GUARDED_BY(mu_) = false;
  Clock::SteadyTime ended_ COX_GUARDED_BY(mu_){};
  Status status_ COX_GUARDED_BY(mu_);
};

class OpenCall final : public WebhookCall {
 public:
  OpenCall(Context ctx, std::string url, std::shared_ptr<net::Client> client, net::Request request)
      : ctx_(std::move(ctx)),
        url_(std::move(url)),
        client_(std::move(client)),
        receiver_(std::make_shared<Receiver>(ctx_.clock())),
        observation_(client_->Observe(std::move(request), receiver_)) {}

  Result<Value> Wait() override {
    COX_RETURN_IF_ERROR(Finish());
    return ReadResponse(receiver_->Take());
  }
  Clock::SteadyTime ended() const override { return receiver_->ended(); }
  Status WaitForCode() override {
    COX_RETURN_IF_ERROR(Finish());
    return CheckResponse(receiver_->Take());
  }

 private:
  Status Finish() {
    const Status status = receiver_->Wait(ctx_);
    observation_.reset();
    if (status.ok() || status.Is(Reason::kRequestEntityTooLarge)) return status;
    return PostError(url_, status);
  }

  Context ctx_;
  const std::string url_;
  const std::shared_ptr<net::Client> client_;
  const std::shared_ptr<Receiver> receiver_;
  std::unique_ptr<net::Observation> observation_;
};

class FailedCall final : public WebhookCall {
 public:
  FailedCall(Status why, Clock::SteadyTime ended) : why_(std::move(why)), ended_(ended) {}
  Result<Value> Wait() override { return why_; }
  Clock::SteadyTime ended() const override { return ended_; }
  Status WaitForCode() override { return why_; }

 private:
  const Status why_;
  const Clock::SteadyTime ended_;
};

std::string WithTimeout(std::string url, std::optional<std::chrono::seconds> timeout) {
  if (!timeout) return url;
  url += url.find('?') == std::string::npos ? '?' : '&';
  return url + "timeout=" + FormatDuration(*timeout);
}

}  // namespace

WebhookConnections::WebhookConnections(const Context& ctx, ServiceResolver resolver, size_t limit)
    : ctx_(ctx), resolver_(std::move(resolver)), limit_(std::max<size_t>(limit, 1)) {}

Result<std::shared_ptr<net::Client>> WebhookConnections::To(const Target& target) {
  {
    MutexLock lock(mu_);
    if (const auto found = kept_.find(target); found != kept_.end()) {
      found->second.last_use = ++uses_;
      return found->second.client;
    }
  }
  net::ClientOptions options;
  options.host = target.host;
  options.port = target.port;
  options.tls = target.tls;
  options.tls_options = {.ca_pem = target.ca_pem,
                         .insecure = target.insecure,
                         .server_name = target.server_name,
                         .certificate_pem = target.certificate_pem,
                         .key_pem = target.key_pem};
  options.http2 = target.tls;  // without TLS there is no ALPN to negotiate HTTP/2
  options.idle_timeout = kIdle;
  COX_ASSIGN_OR_RETURN(std::shared_ptr<net::Client> client,
                       net::Client::Create(ctx_, std::move(options)));
  // Closing a client joins its thread, so it happens after unlocking.
  std::shared_ptr<net::Client> dropped;
  MutexLock lock(mu_);
  const auto [at, added] = kept_.try_emplace(target, Kept{client});
  at->second.last_use = ++uses_;
  if (!added) dropped = std::exchange(client, at->second.client);
  if (added && kept_.size() > limit_) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](auto& a, auto& b) {
      return a.second.last_use < b.second.last_use;
    });
    dropped = std::move(oldest->second.client);
    kept_.erase(oldest);
  }
  return client;
}

Result<ServiceAddress> WebhookConnections::Resolve(Context& ctx,
                                                   const WebhookConfig::Service& service) const {
  if (resolver_ == nullptr) return Status::Unavailable("services cannot be called from here");
  return resolver_(ctx, service.ns, service.name, service.port);
}

size_t WebhookConnections::size() const {
  MutexLock lock(mu_);
  return kept_.size();
}

WebhookClient::WebhookClient(std::shared_ptr<WebhookConnections> connections, WebhookConfig config,
                             WebhookUrl url)
    : connections_(std::move(connections)),
      config_(std::make_shared<const WebhookConfig>(std::move(config))),
      url_(std::move(url)) {}

Result<WebhookClient> WebhookClient::Create(std::shared_ptr<WebhookConnections> connections,
                                            WebhookConfig config) {
  COX_ASSIGN_OR_RETURN(WebhookUrl url, ParseWebhookUrl(config.url));
  return WebhookClient(std::move(connections), std::move(config), std::move(url));
}

std::string WebhookClient::url() const {
  return (url_.tls ? "https://" : "http://") + url_.authority + url_.target;
}

Result<std::shared_ptr<net::Client>> WebhookClient::Connection(Context& ctx) const {
  WebhookConnections::Target target{.host = url_.host,
                                    .port = url_.port,
                                    .tls = url_.tls,
                                    .insecure = config_->insecure,
                                    .server_name = config_->server_name,
                                    .ca_pem = config_->ca_pem,
                                    .certificate_pem = config_->certificate_pem,
                                    .key_pem = config_->key_pem};
  if (config_->service) {
    COX_ASSIGN_OR_RETURN(ServiceAddress address, connections_->Resolve(ctx, *config_->service));
    target.host = std::move(address.host);
    target.port = address.port;
  }
  return connections_->To(target);
}

std::unique_ptr<WebhookCall> WebhookClient::Start(
    const Context& ctx, std::string json, std::optional<std::chrono::seconds> timeout) const {
  Context call = timeout ? ctx.WithTimeout(*timeout) : ctx.Child();
  std::string url = WithTimeout(this->url(), timeout);
  auto client = Connection(call);
  if (!client.ok()) {
    return std::make_unique<FailedCall>(PostError(url, client.status()), ctx.clock().Monotonic());
  }
  net::Request request;
  request.method = "POST";
  request.target = WithTimeout(url_.target, timeout);
  request.headers = {{"host", url_.authority},
                     {"content-type", "application/json"},
                     {"accept", "application/json, */*"},
                     {"user-agent", config_->user_agent}};
  if (!config_->token.empty()) request.headers.Add("authorization", "Bearer " + config_->token);
  request.body = std::move(json);
  return std::make_unique<OpenCall>(std::move(call), std::move(url), *std::move(client),
                                    std::move(request));
}

Status WebhookClient::Send(const Context& ctx, std::string json) const {
  return Start(ctx, std::move(json))->WaitForCode();
}

Result<Value> WebhookClient::Post(const Context& ctx, std::string json,
                                  std::optional<std::chrono::seconds> timeout) const {
  return Start(ctx, std::move(json), timeout)->Wait();
}

}  // namespace cox::apiserver
