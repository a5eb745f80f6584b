// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/admissionregistration/v1.h"
#include "base/flags.h"
#include "coxswain/object_key.h"
#include "coxswain/webhook.h"

namespace cox {

// Listen address of a webhook server with self-signed certificates, and the address under which the
// API server reaches it.
//
//   const WebhookEndpoint endpoint = WebhookEndpoint::From(flags, {"system", "injector"});
//   auto server = WebhookServer::Create(endpoint.Options(), &manager.metrics());
//   webhook.clientConfig = endpoint.ClientConfig("/mutate-pods");
//
// In a cluster the API server uses the Service; for a server outside the cluster it uses a URL.
struct WebhookEndpoint {
  std::string address = ":9443";  // listen address
  std::string url;                // "https://127.0.0.1:9443": replaces the Service
  ObjectKey service;              // the Secret <name>-cert beside it holds the certificates

  // Flags for OperatorOptions::flags: --webhook-bind-address, --webhook-url, --service.
  static std::vector<FlagInfo> Flags();
  static WebhookEndpoint From(const cox::Flags& flags, const ObjectKey& service);

  // Self-signed, for the Service's DNS name and 127.0.0.1.
  WebhookOptions Options() const;
  admissionregistration::v1::WebhookClientConfig ClientConfig(std::string_view path) const;
};

}  // namespace cox
