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

// Where a webhook server with certificates of its own listens, and where the API server finds it.
//
//   const WebhookPlace place = WebhookPlace::From(flags, {"system", "injector"});
//   auto server = WebhookServer::Create(place.Options(), &manager.metrics());
//   webhook.clientConfig = place.ClientConfig("/mutate-pods");
//
// In a cluster that is the Service; from a desk, for which no Service leads there, a URL.
struct WebhookPlace {
  std::string address = ":9443";  // where the server listens
  std::string url;                // "https://127.0.0.1:9443": instead of the Service
  ObjectKey service;              // the certificates are in the Secret <name>-cert beside it

  // --webhook-bind-address, --webhook-url, --service: for OperatorOptions::flags.
  static std::vector<FlagInfo> Flags();
  static WebhookPlace From(const cox::Flags& flags, const ObjectKey& service);

  // Self-signed, for the Service's name and the loopback.
  WebhookOptions Options() const;
  admissionregistration::v1::WebhookClientConfig ClientConfig(std::string_view path) const;
};

}  // namespace cox
