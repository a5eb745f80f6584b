// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "base/watched_file.h"
#include "base/worker_pool.h"
#include "coxswain/webhook.h"
#include "net/bind_address.h"
#include "net/certificate.h"
#include "net/server.h"
#include "sdk/webhook/bootstrap/self_signed.h"
#include "sdk/webhook/conversion.h"
#include "sdk/webhook/metrics.h"
#include "sdk/webhook/requests.h"
#include "sdk/webhook/review.h"
#include "sdk/webhook/serving_certificate.h"

namespace cox {
namespace sdk {
namespace {

// Maximum number of requests that wait for a worker; later ones would time out anyway.
constexpr size_t kMaxWaiting = 1024;
// Maximum size of their bodies, as a multiple of max_body_bytes: few reviews are large, and small
// Pods have little memory.
constexpr size_t kMaxWaitingReviews = 4;
// API servers are few and keep their connections.
constexpr size_t kMaxConnections = 1024;

// The handler of one path.
struct Hook {
  std::function<HookResponse(Context&, std::string_view body)> answer;
  Histogram* latency = nullptr;
  Gauge* in_flight = nullptr;
};

// Counts the bytes of a waiting body during its lifetime.
class Share {
 public:
  Share(std::atomic<size_t>& total, size_t bytes)
      : total_(total), bytes_(bytes), total_then_(total.fetch_add(bytes) + bytes) {}
  ~Share() { total_ -= bytes_; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  // The total at construction, including this body.
  size_t total_then() const { return total_then_; }

 private:
  std::atomic<size_t>& total_;
  const size_t bytes_;
  const size_t total_then_;
};

void Reply(net::Exchange& exchange, HookResponse answer) {
  net::Headers headers;
  headers.Add("content-type", std::string(answer.content_type));
  if (answer.code == 503) headers.Add("retry-after", "1");
  exchange.Send({.status = answer.code,
                 .headers = std::move(headers),
                 .body = {Bytes(std::move(answer.body))}});
}

class HookServer final : public WebhookServer {
 public:
  HookServer(WebhookOptions options, MetricsRegistry* metrics)
      : options_(std::move(options)),
        own_registry_(metrics == nullptr ? std::make_unique<MetricsRegistry>() : nullptr),
        metrics_(metrics == nullptr ? *own_registry_ : *metrics) {
    if (options_.self_signed) {
      targets_.mutating = options_.self_signed->mutating;
      targets_.validating = options_.self_signed->validating;
      targets_.crds = options_.self_signed->crds;
    }
  }

  void Register(admissionregistration::v1::MutatingWebhookConfiguration configuration) override {
    COX_CHECK(options_.self_signed && !started_) << "configurations need self-signed certificates";
    targets_.own_mutating.push_back(std::move(configuration));
  }
  void Register(admissionregistration::v1::ValidatingWebhookConfiguration configuration) override {
    COX_CHECK(options_.self_signed && !started_) << "configurations need self-signed certificates";
    targets_.own_validating.push_back(std::move(configuration));
  }

  Status Run(Context& ctx, Client* client) override;
  Status Ready(const Clock& clock) const override;
  uint16_t port() const override { return port_.load(); }

 protected:
  void AddMutating(std::string path, const KindInfo* kind, MutateHandler<Object> handler) override {
    AddHook(std::move(path),
            [kind, handler = std::move(handler)](Context& ctx, std::string_view body) {
              return ReviewMutating(ctx, body, kind, handler);
            });
  }
  void AddValidating(std::string path, const KindInfo* kind,
                     ValidateHandler<Object> handler) override {
    AddHook(std::move(path),
            [kind, handler = std::move(handler)](Context& ctx, std::string_view body) {
              return ReviewValidating(ctx, body, kind, handler);
            });
  }
  void AddConversion(std::string path, const KindInfo& from, const KindInfo& to,
                     AnyConversion handler) override {
    ConversionsAt(std::move(path)).Add(from, to, std::move(handler));
  }
  void AddConversion(std::string path, ConvertAnyHandler handler) override {
    ConversionsAt(std::move(path)).Add(std::move(handler));
  }

 private:
  void AddHook(std::string path,
               std::function<HookResponse(Context&, std::string_view body)> answer);
  Conversions& ConversionsAt(std::string path);

  Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> OpenCertificate(const Context& ctx);
  // Counts one attempt to load a certificate.
  void CountRead(const Status& read);
  // Listens, calls `meanwhile`, which returns when `ctx` stops, then drains.
  Status Serve(Context& ctx, const std::function<void(Context&)>& meanwhile);

  // Limit of the bytes of bodies being received, and of those waiting for a worker.
  size_t MostBytes() const { return kMaxWaitingReviews * options_.max_body_bytes; }

  // Runs on an event loop thread; must not block.
  void Take(net::ExchangePtr exchange);
  bool Enqueue(const std::string& path, const Hook& hook, net::ExchangePtr exchange);
  // Runs on a worker thread.
  void Work(Context ctx, const std::string& path, const Hook& hook, net::Exchange& exchange);
  HookResponse Ask(Context& ctx, const Hook& hook, const net::Request& request);
  void Send(const std::string& path, net::Exchange& exchange, HookResponse answer);

  const WebhookOptions options_;
  const std::unique_ptr<MetricsRegistry> own_registry_;
  WebhookMetrics metrics_;
  // Immutable while the server runs.
  std::map<std::string, Hook, std::less<>> hooks_;
  std::map<std::string, std::shared_ptr<Conversions>> conversions_;
  CaTargets targets_;
  ServingCertificate certificate_;
  std::atomic<bool> started_ = false;
  std::atomic<uint16_t> port_ = 0;
  std::atomic<bool> injected_ = false;
  // Used while the server runs.
  std::atomic<size_t> waiting_bytes_ = 0;  // bodies that wait for a worker
  std::unique_ptr<WatchedFile<net::TrustedCas>> client_cas_;
  std::unique_ptr<WorkerPool> workers_;
};

void HookServer::AddHook(std::string path,
                         std::function<HookResponse(Context&, std::string_view body)> answer) {
  COX_CHECK(!started_) << "a handler for " << path << " comes too late: the server runs";
  COX_CHECK(path.starts_with('/') && !hooks_.contains(path))
      << "the path " << path << " of a webhook is taken or no path";
  // Creates the series, so that they are exported as zero.
  metrics_.requests.With({path, "200"});
  metrics_.requests.With({path, "500"});
  Hook& hook = hooks_[path];
  hook.answer = std::move(answer);
  hook.latency = &metrics_.latency.With({path});
  hook.in_flight = &metrics_.in_flight.With({path});
}

Conversions& HookServer::ConversionsAt(std::string path) {
  std::shared_ptr<Conversions>& conversions = conversions_[path];
  if (conversions == nullptr) {
    conversions = std::make_shared<Conversions>();
    AddHook(std::move(path), [conversions](Context& ctx, std::string_view body) {
      return conversions->ConvertReview(ctx, body);
    });
  }
  COX_CHECK(!started_) << "a conversion comes too late: the server runs";
  return *conversions;
}

Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> HookServer::OpenCertificate(
    const Context& ctx) {
  using Pair = std::shared_ptr<const net::CertificatePair>;
  FileWatch::Options files;
  files.name = "webhook-cert";
  files.paths = {options_.certificate_folder / options_.certificate_name,
                 options_.certificate_folder / options_.key_name};
  auto opened = WatchedFile<net::CertificatePair>::Open(
      ctx, std::move(files),
      [this](std::span<const std::string> texts) -> Result<Pair> {
        COX_RETURN_IF_ERROR(certificate_.Install({texts[0], texts[1]}));
        return Pair(std::make_shared<net::CertificatePair>());
      },
      [this](const Status& reloaded) { CountRead(reloaded); });
  CountRead(opened.status());
  return opened;
}

void HookServer::CountRead(const Status& read) {
  metrics_.reads.Inc();
  if (!read.ok()) metrics_.read_errors.Inc();
}

Status HookServer::Run(Context& ctx, Client* client) {
  COX_CHECK(!started_.exchange(true)) << "a webhook server runs once";
  if (!options_.client_ca_file.empty()) {
    COX_ASSIGN_OR_RETURN(
        client_cas_,
        WatchedFile<net::TrustedCas>::Open(
            ctx, {.name = "webhook-ca", .paths = {options_.client_ca_file}},
            [](std::span<const std::string> texts) { return net::TrustedCas::Parse(texts[0]); }));
  }
  if (!options_.self_signed) {
    injected_ = true;
    COX_ASSIGN_OR_RETURN(const auto certificate, OpenCertificate(ctx));
    return Serve(ctx, [](Context& until) { (void)until.Sleep(Clock::Duration::max()); });
  }
  if (client == nullptr) {
    return Status::BadRequest("self-signed certificates need a client");
  }
  SelfSignedCertificates self_signed(
      *client, *options_.self_signed, targets_,
      [this](const net::CertificatePair& pair) {
        Status installed = certificate_.Install(pair);
        CountRead(installed);
        return installed;
      },
      [this] { injected_ = true; });
  COX_RETURN_IF_ERROR(self_signed.Start(ctx));
  return Serve(ctx, [&self_signed](Context& until) { self_signed.Follow(until); });
}

Status HookServer::Serve(Context& ctx, const std::function<void(Context&)>& meanwhile) {
  COX_ASSIGN_OR_RETURN(const std::optional<net::BindAddress> address,
                       net::ParseBindAddress(options_.address));
  if (!address) return Status::BadRequest("a webhook server needs an address to listen on");
  // Not a child of `ctx`: requests in flight continue while the server drains.
  Context serving(ctx.clock(), ctx.log());
  workers_ = std::make_unique<WorkerPool>(
      serving,
      WorkerPool::Options{
          .name = "webhook", .max_threads = options_.max_concurrent, .max_queue = kMaxWaiting});
  net::ServerOptions listen;
  listen.loops = 1;  // only I/O; handlers run on the workers
  listen.tls = certificate_.tls();
  listen.max_body_bytes = options_.max_body_bytes;
  listen.max_buffered_bytes = MostBytes();
  listen.max_connections = kMaxConnections;
  Result<std::unique_ptr<net::Server>> server =
      net::ListenOn(serving, *address, std::move(listen),
                    [this](net::ExchangePtr exchange) { Take(std::move(exchange)); });
  if (!server.ok()) return server.status().WithContext("webhook server");
  port_ = (*server)->port();
  COX_INFO(ctx.log(), "Serving webhooks", {"address", options_.address}, {"port", port_.load()});

  meanwhile(ctx);

  Context limit = serving.WithTimeout(options_.graceful_shutdown);
  const Status drained = (*server)->Drain(limit);
  if (!drained.ok()) {
    COX_WARNING(ctx.log(), "Webhook requests did not end in time", {"err", drained.message()});
  }
  port_ = 0;
  serving.Stop();
  workers_->Stop();
  (*server)->Stop();
  return {};
}

Status HookServer::Ready(const Clock& clock) const {
  if (port_ == 0) return Status::Unavailable("the webhook server does not listen yet");
  COX_RETURN_IF_ERROR(certificate_.Check(clock.Now()));
  if (!injected_) return Status::Unavailable("the CA is not known to the API server yet");
  return {};
}

void HookServer::Take(net::ExchangePtr exchange) {
  const net::Request& request = exchange->request();
  const auto at = hooks_.find(request.path());
  if (at == hooks_.end()) {
    // Not counted, because the path is arbitrary and would create unlimited series.
    Reply(*exchange, FailureResponse(Status::NotFound("there is no webhook at this path")));
    return;
  }
  const std::string& path = at->first;
  Status refused;
  if (request.method != "POST") {
    refused = Status(Reason::kMethodNotAllowed, "webhooks are called by POST");
  } else if (!IsJson(request.headers.Get("content-type").value_or(""))) {
    refused = Status(Reason::kUnsupportedMediaType, "webhooks take application/json");
  } else if (request.body.size() > options_.max_body_bytes) {
    refused = Status::TooLarge("the review is larger than " +
                               std::to_string(options_.max_body_bytes) + " bytes");
  } else if (!Enqueue(path, at->second, exchange)) {
    refused = Status::Unavailable("too many requests wait");
  }
  if (!refused.ok()) Send(path, *exchange, FailureResponse(refused));
}

bool HookServer::Enqueue(const std::string& path, const Hook& hook, net::ExchangePtr exchange) {
  auto share = std::make_shared<Share>(waiting_bytes_, exchange->request().body.size());
  if (share->total_then() > MostBytes()) return false;
  // The timeout starts now and includes the time in the queue.
  Context ctx = exchange->context()
                    .WithTimeout(TimeoutOf(exchange->request().query(), options_.timeout))
                    .WithValue("webhook", path);
  return workers_->Submit([this, ctx = std::move(ctx), &path, &hook, share = std::move(share),
                           exchange = std::move(exchange)]() mutable {
    share.reset();  // it no longer waits
    Work(ctx, path, hook, *exchange);
  });
}

void HookServer::Work(Context ctx, const std::string& path, const Hook& hook,
                      net::Exchange& exchange) {
  const Clock::SteadyTime begun = ctx.clock().Monotonic();
  hook.in_flight->Inc();
  HookResponse answer = Ask(ctx, hook, exchange.request());
  // Client errors are not logged: the client receives the message, and could flood the log.
  if (answer.code >= 500) {
    COX_WARNING(ctx.log(), "Webhook request failed", {"code", answer.code},
                {"err", TrimSpace(answer.body)});
  }
  hook.in_flight->Dec();
  const std::chrono::duration<double> took = ctx.clock().Monotonic() - begun;
  hook.latency->Observe(took.count());
  Send(path, exchange, std::move(answer));
}

HookResponse HookServer::Ask(Context& ctx, const Hook& hook, const net::Request& request) {
  if (client_cas_ != nullptr) {
    static const std::vector<std::string> kNone;
    const auto& shown = request.peer == nullptr ? kNone : request.peer->certificates;
    const Status trusted = client_cas_->Current()->VerifyClient(shown, ctx.clock().Now());
    if (!trusted.ok()) return FailureResponse(trusted);
  }
  // The request timed out while it waited for a worker.
  if (ctx.Done()) return FailureResponse(Status::Timeout("the request waited too long"));
  try {
    return hook.answer(ctx, request.body);
  } catch (const std::exception& thrown) {
    metrics_.panics.Inc();
    COX_ERROR(ctx.log(), Status::Internal(thrown.what()), "An exception escaped a webhook handler");
  } catch (...) {
    metrics_.panics.Inc();
    COX_ERROR(ctx.log(), Status::Internal("not a std::exception"),
              "An exception escaped a webhook handler");
  }
  return FailureResponse(Status::Internal("the webhook failed"));
}

void HookServer::Send(const std::string& path, net::Exchange& exchange, HookResponse answer) {
  metrics_.requests.With({path, std::to_string(answer.code)}).Inc();
  Reply(exchange, std::move(answer));
}

}  // namespace
}  // namespace sdk

std::unique_ptr<WebhookServer> WebhookServer::Create(WebhookOptions options,
                                                     MetricsRegistry* metrics) {
  return std::make_unique<sdk::HookServer>(std::move(options), metrics);
}

}  // namespace cox
