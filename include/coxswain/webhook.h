// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "base/context.h"
#include "base/metrics.h"
#include "coxswain/admission.h"
#include "coxswain/client.h"

namespace cox {

class Manager;

// Self-signed certificates, without cert-manager: the server creates a CA and a serving certificate
// and injects the CA into the webhook configurations.
//
// They are stored in a Secret (tls.crt, tls.key, ca.crt, ca.key) with optimistic concurrency: if
// several replicas start at once, one writes the Secret and all use it. One replica also renews
// them for all when a third of their validity remains. A new CA is added beside the old one until
// that expires, so that verification does not fail in between. The CA is written to the listed
// configurations at once, and again whenever it is overwritten.
//
// Required permissions: get, create, update, watch on the Secret; get, patch, watch on the
// configurations, and create on those passed to WebhookServer::Register. RBAC with resourceNames is
// sufficient (except for create): every object is watched by name.
struct SelfSigned {
  ObjectKey secret;                     // REQUIRED
  std::vector<std::string> names;       // REQUIRED: DNS names and addresses, "hook.system.svc"
  std::vector<std::string> mutating;    // MutatingWebhookConfigurations to inject the CA into
  std::vector<std::string> validating;  // ValidatingWebhookConfigurations
  std::vector<std::string> crds;        // CustomResourceDefinitions with conversion webhooks
  int days = 365;                       // validity of the serving certificate
  int ca_days = 3650;                   // greater than `days`, at most 100 years
};

struct WebhookOptions {
  std::string address = ":9443";  // host:port; ":0" for any port
  // Files tls.crt and tls.key, reloaded while the server runs: new connections use renewed
  // certificates at once. Pairs that do not match or do not parse are logged, counted and ignored.
  std::filesystem::path certificate_folder = "/tmp/k8s-webhook-server/serving-certs";
  std::string certificate_name = "tls.crt";
  std::string key_name = "tls.key";
  // Used instead of the files.
  std::optional<SelfSigned> self_signed;
  // PEM file, reloaded on change. If set, clients must present a certificate signed by one of these
  // CAs; others get 401. If not set, every client that reaches the port is accepted, as with most
  // webhooks.
  std::filesystem::path client_ca_file;

  size_t max_body_bytes = size_t{8} * 1024 * 1024;  // new and old object as JSON
  // Maximum number of handler threads. Queued reviews may take as much memory as four bodies of the
  // maximum size; beyond that, requests get 503 with Retry-After.
  size_t max_concurrent = 64;
  // Default and maximum for the timeout of a request (?timeout=).
  std::chrono::milliseconds timeout{30'000};
  // How long to wait for requests in flight on shutdown.
  std::chrono::milliseconds graceful_shutdown{30'000};
};

// An HTTPS server for admission webhooks (admission.k8s.io/v1) and conversion webhooks
// (apiextensions.k8s.io/v1).
//
//   auto server = WebhookServer::Create({.certificate_folder = "/certs"}, &manager.metrics());
//   server->Mutate<core::v1::Pod>(
//       "/mutate-pods", [](Context&, const AdmissionRequest<core::v1::Pod>&, core::v1::Pod& pod) {
//         pod.metadata.labels["seen"] = "yes";
//         return AdmissionResponse::Allow();
//       });
//   COX_RETURN_IF_ERROR(server->AddTo(manager));
//
// Guarantees: each request that the handler finishes in time gets a response with its uid; a patch
//   contains only the handler's changes. A request that is not an admission review, is too large,
//   has another kind than T, or has no uid is rejected before it reaches a handler. An exception
//   that escapes a handler is caught, counted and answered with 500.
// Threads: handlers run concurrently on worker threads and may block. Their context stops at the
//   deadline that the API server requested (?timeout=), or when the client disconnects.
// Metrics: controller_runtime_webhook_{latency_seconds,requests_total,requests_in_flight,
//   panics_total} and certwatcher_read_certificate_{,errors_}total, as in controller-runtime. One
//   server per registry.
class WebhookServer {
 public:
  // `metrics` may be null; it must outlive the server.
  static std::unique_ptr<WebhookServer> Create(WebhookOptions options,
                                               MetricsRegistry* metrics = nullptr);
  virtual ~WebhookServer() = default;

  // --- Call before Run. REQUIRES: the path begins with a slash and has no handler yet.
  template <class T>
  void Mutate(std::string path, MutateHandler<T> handler);
  template <class T>
  void Validate(std::string path, ValidateHandler<T> handler);
  // Each handler converts in one direction; a path may have several. Versions without a direct
  // handler are converted through a third version: with a hub version, two handlers per version are
  // sufficient.
  template <class From, class To>
  void Convert(std::string path, ConvertHandler<From, To> handler);
  void Convert(std::string path, ConvertAnyHandler handler) {
    AddConversion(std::move(path), std::move(handler));
  }

  // Maintains this configuration in the cluster while the server runs: applies it (server-side
  // apply) with the CA, and again if it is changed or deleted.
  // REQUIRES: WebhookOptions::self_signed is set.
  virtual void Register(admissionregistration::v1::MutatingWebhookConfiguration configuration) = 0;
  virtual void Register(
      admissionregistration::v1::ValidatingWebhookConfiguration configuration) = 0;

  // Runs the server with the manager, on every replica, and adds the readiness check "webhook".
  // Requests for self-signed certificates use the manager's transport. The server must outlive
  // Manager::Run.
  Status AddTo(Manager& manager);

  // Listens and serves until `ctx` stops, then waits for requests in flight. May be called once.
  // `client` is used for self-signed certificates and may be null otherwise.
  //
  // Errors: NotFound or BadRequest if certificate files are missing or do not match; Unavailable if
  //   the port is in use.
  virtual Status Run(Context& ctx, Client* client) = 0;

  // OK while the server listens with a currently valid certificate (and, if self-signed, the CA has
  // been injected once).
  virtual Status Ready(const Clock& clock) const = 0;
  // 0 before it listens.
  virtual uint16_t port() const = 0;

 protected:
  using AnyConversion = ConvertHandler<Object, Object>;
  // If `kind` is null, objects are JSON values of any kind.
  virtual void AddMutating(std::string path, const KindInfo* kind,
                           MutateHandler<Object> handler) = 0;
  virtual void AddValidating(std::string path, const KindInfo* kind,
                             ValidateHandler<Object> handler) = 0;
  virtual void AddConversion(std::string path, const KindInfo& from, const KindInfo& to,
                             AnyConversion handler) = 0;
  virtual void AddConversion(std::string path, ConvertAnyHandler handler) = 0;
};

namespace internal {

template <class T>
AdmissionRequest<T> RequestAs(const AdmissionRequest<Object>& request) {
  const auto as = [](const Object* object) -> const T* {
    return object == nullptr ? nullptr : object->As<T>();
  };
  return {request.review, as(request.object), as(request.old_object)};
}

}  // namespace internal

template <class T>
void WebhookServer::Mutate(std::string path, MutateHandler<T> handler) {
  if constexpr (std::is_same_v<T, Object>) {
    AddMutating(std::move(path), nullptr, std::move(handler));
  } else {
    AddMutating(std::move(path), &T::kKind,
                [handler = std::move(handler)](
                    Context& ctx, const AdmissionRequest<Object>& request, Object& object) {
                  return handler(ctx, internal::RequestAs<T>(request), *object.As<T>());
                });
  }
}

template <class T>
void WebhookServer::Validate(std::string path, ValidateHandler<T> handler) {
  if constexpr (std::is_same_v<T, Object>) {
    AddValidating(std::move(path), nullptr, std::move(handler));
  } else {
    AddValidating(
        std::move(path), &T::kKind,
        [handler = std::move(handler)](Context& ctx, const AdmissionRequest<Object>& request) {
          return handler(ctx, internal::RequestAs<T>(request));
        });
  }
}

template <class From, class To>
void WebhookServer::Convert(std::string path, ConvertHandler<From, To> handler) {
  AddConversion(std::move(path), From::kKind, To::kKind,
                [handler = std::move(handler)](Context& ctx, const Object& from, Object& to) {
                  return handler(ctx, *from.As<From>(), *to.As<To>());
                });
}

}  // namespace cox
