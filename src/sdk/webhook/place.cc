// SPDX-License-Identifier: Apache-2.0
#include "coxswain/webhook_place.h"

namespace cox {

std::vector<FlagInfo> WebhookPlace::Flags() {
  return {
      {"Webhook", "webhook-bind-address", "address", ":9443", "where the webhook server listens"},
      {"Webhook", "webhook-url", "url", "",
       "where the API server finds it, as https://127.0.0.1:9443; else by the Service"},
      {"Webhook", "service", "namespace/name", "",
       "the Service in front of it, beside which its certificates are kept in a Secret"},
  };
}

WebhookPlace WebhookPlace::From(const cox::Flags& flags, const ObjectKey& service) {
  return {.address = flags.Get("webhook-bind-address"),
          .url = flags.Get("webhook-url"),
          .service = flags.Has("service") ? ObjectKey::Parse(flags.Get("service")) : service};
}

WebhookOptions WebhookPlace::Options() const {
  WebhookOptions options;
  options.address = address;
  options.self_signed =
      SelfSigned{.secret = {service.ns, service.name + "-cert"},
                 .names = {service.name + "." + service.ns + ".svc", "127.0.0.1"}};
  return options;
}

admissionregistration::v1::WebhookClientConfig WebhookPlace::ClientConfig(
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
