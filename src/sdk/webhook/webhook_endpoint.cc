// SPDX-License-Identifier: Apache-2.0
#include "coxswain/webhook_endpoint.h"

namespace cox {

std::vector<FlagInfo> WebhookEndpoint::Flags() {
  return {
      {"Webhook", "webhook-bind-address", "address", ":9443",
       "Address on which the webhook server listens"},
      {"Webhook", "webhook-url", "url", "",
       "URL at which the API server reaches the webhook server, for example "
       "https://127.0.0.1:9443 (default: through the Service)"},
      {"Webhook", "service", "namespace/name", "",
       "Service of the webhook server; the Secret with its certificates is in the same namespace"},
  };
}

WebhookEndpoint WebhookEndpoint::From(const cox::Flags& flags, const ObjectKey& service) {
  return {.address = flags.Get("webhook-bind-address"),
          .url = flags.Get("webhook-url"),
          .service = flags.Has("service") ? ObjectKey::Parse(flags.Get("service")) : service};
}

WebhookOptions WebhookEndpoint::Options() const {
  WebhookOptions options;
  options.address = address;
  options.self_signed =
      SelfSigned{.secret = {service.ns, service.name + "-cert"},
                 .names = {service.name + "." + service.ns + ".svc", "127.0.0.1"}};
  return options;
}

admissionregistration::v1::WebhookClientConfig WebhookEndpoint::ClientConfig(
    std::string_view path) const {
  admissionregistration::v1::WebhookClientConfig config;
  if (!url.empty()) {
    config.url = url + std::string(path);
    return config;
  }
  auto& to = config.service.emplace();
  to.namespace_ = service.ns;
  to.name = service.name;
  to.path = std::string(path);
  return config;
}

}  // namespace cox
