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

// Certificates without cert-manager: the server makes a CA and a certificate of its own and tells
// the API server to trust them.
//
// They are kept in a Secret (tls.crt, tls.key, ca.crt, ca.key), written with optimistic
// concurrency: of several replicas that start at once, one writes and all use the same. They are
// renewed when a third of their time is left, also by one for all; a new CA stands beside the old
// one until that expires, so that nothing fails in between. The CA is put into the named
// configurations, at once and again whenever somebody overwrites it.
//
// It needs: get, create, update, watch of the Secret; get, patch, watch of the configurations, and
// create of those that are given to WebhookServer::Register. RBAC by resourceNames is enough (not
// for create): every object is watched by its name.
struct SelfSigned {
  ObjectKey secret;                     // REQUIRED
  std::vector<std::string> names;       // REQUIRED: "hook.system.svc", addresses: as URLs have them
  std::vector<std::string> mutating;    // MutatingWebhookConfigurations to put the CA into
  std::vector<std::string> validating;  // ValidatingWebhookConfigurations
  std::vector<std::string> crds;        // CustomResourceDefinitions that convert by webhook
  int days = 365;                       // of the serving certificate
  int ca_days = 3650;                   // more than `days`, a hundred years at most
};

struct WebhookOptions {
  std::string address = ":9443";  // host:port; ":0" for any port
  // tls.crt and tls.key, followed while the server runs: renewed certificates are used for new
  // connections at once, those that do not fit or parse are logged, counted and not used.
  std::filesystem::path certificate_folder = "/tmp/k8s-webhook-server/serving-certs";
  std::string certificate_name = "tls.crt";
  std::string key_name = "tls.key";
  // Instead of files.
  std::optional<SelfSigned> self_signed;
  // PEM, followed too. If set, callers have to show a certificate that one of these CAs signed;
  // others get 401. Without it anybody who reaches the port may ask, as with most webhooks.
  std::filesystem::path client_ca_file;

  size_t max_body_bytes = size_t{8} * 1024 * 1024;  // an object and its predecessor, as JSON
  // Handlers run on threads of their own, at most so many at once. Of the reviews that wait for one
  // as many are kept as have room in four of the largest; others get 503 with Retry-After.
  size_t max_concurrent = 64;
  // For requests that name no time of their own (?timeout=), and at most.
  std::chrono::milliseconds timeout{30'000};
  // How long requests in flight are waited for at the end.
  std::chrono::milliseconds graceful_shutdown{30'000};
};

// An HTTPS server that the API server asks before it stores objects (admission.k8s.io/v1), and to
// convert custom resources between versions (apiextensions.k8s.io/v1).
//
//   auto server = WebhookServer::Create({.certificate_folder = "/certs"}, &manager.metrics());
//   server->Mutate<core::v1::Pod>(
//       "/mutate-pods", [](Context&, const AdmissionRequest<core::v1::Pod>&, core::v1::Pod& pod) {
//         pod.metadata.labels["seen"] = "yes";
//         return AdmissionResponse::Allow();
//       });
//   COX_RETURN_IF_ERROR(server->AddTo(manager));
//
// Guarantees: the API server gets an answer to each request that the handler finishes in time, with
//   its uid; a patch holds only what the handler changed. What is not an admission review, is too
//   large, of another kind than T, or without uid never reaches a handler. An exception that
//   escapes a handler is contained, counted and answered with 500.
// Threads: handlers are called concurrently, on workers: they may block. Their context stops at the
//   time the API server said (?timeout=), or when it hangs up.
// Metrics: controller_runtime_webhook_{latency_seconds,requests_total,requests_in_flight,
//   panics_total} and certwatcher_read_certificate_{,errors_}total, as controller-runtime has them.
//   One server for each registry.
class WebhookServer {
 public:
  // Metrics may be null; they outlive the server.
  static std::unique_ptr<WebhookServer> Create(WebhookOptions options,
                                               MetricsRegistry* metrics = nullptr);
  virtual ~WebhookServer() = default;

  // --- Before Run. REQUIRES: the path begins with a slash and has no handler yet.
  template <class T>
  void Mutate(std::string path, MutateHandler<T> handler);
  template <class T>
  void Validate(std::string path, ValidateHandler<T> handler);
  // One direction each; several on one path. Versions that no handler joins are converted by way of
  // a third that is joined to both: with a hub, two handlers per version are enough.
  template <class From, class To>
  void Convert(std::string path, ConvertHandler<From, To> handler);
  void Convert(std::string path, ConvertAnyHandler handler) {
    AddConversion(std::move(path), std::move(handler));
  }

  // Keeps this configuration in the cluster while the server runs: applied (server-side) with the
  // CA, and again when somebody changes or deletes it. REQUIRES: WebhookOptions::self_signed.
  virtual void Register(admissionregistration::v1::MutatingWebhookConfiguration configuration) = 0;
  virtual void Register(
      admissionregistration::v1::ValidatingWebhookConfiguration configuration) = 0;

  // Runs it with the manager, on every replica, with its client for self-signed certificates, and
  // adds the readiness check "webhook". The server outlives the manager's Run.
  Status AddTo(Manager& manager);

  // Listens, serves until `ctx` stops, and lets requests in flight end. Once. `client` is for
  // self-signed certificates and may be null without.
  //
  // Errors: NotFound or BadRequest for certificate files that are not there or do not fit;
  //   Unavailable if the port is taken.
  virtual Status Run(Context& ctx, Client* client) = 0;

  // OK while it listens with a certificate that is valid now (and, self-signed, the CA was put
  // where it belongs once).
  virtual Status Ready(const Clock& clock) const = 0;
  // 0 before it listens.
  virtual uint16_t port() const = 0;

 protected:
  using AnyConversion = ConvertHandler<Object, Object>;
  // `kind` null: objects are JSON values of any kind.
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
