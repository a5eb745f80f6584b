// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// The address of a webhook, its trusted CAs and the client's credentials, from the clientConfig of
// an API object or from a kubeconfig file.
namespace cox::apiserver {

struct WebhookConfig {
  // A Service of the cluster. Its address is resolved for each call: see webhook_client.h. The URL
  // is https://<name>.<namespace>.svc:<port>/<path>.
  struct Service {
    std::string ns;
    std::string name;
    uint16_t port = 443;
  };

  std::string url;  // "https://host[:port][/path]"; http only from a kubeconfig
  std::optional<Service> service;
  std::string ca_pem;           // empty: the system's roots
  bool insecure = false;        // accepts any certificate; only from a kubeconfig
  std::string server_name;      // in the server's certificate; empty: the URL's host
  std::string certificate_pem;  // of the client; empty: none
  std::string key_pem;
  std::string token;  // sent as bearer token; never logged
  std::string user_agent = "kube-apiserver-admission";
};

// The parts of a webhook's URL.
struct WebhookUrl {
  bool tls = true;
  std::string host;  // without brackets
  uint16_t port = 443;
  std::string authority;  // as in the URL, for the Host header
  std::string target;     // path and query, at least "/"
};
// Errors: BadRequest if it is not an http or https URL, or has user information or a fragment.
Result<WebhookUrl> ParseWebhookUrl(std::string_view url);

// From the clientConfig of an admission (admissionregistration.k8s.io) or conversion
// (apiextensions.k8s.io) webhook: both types have the same fields. Errors: BadRequest if there is
// neither a URL nor a service, in an object that was stored without validation.
WebhookConfig ServiceWebhook(const std::string& ns, const std::string& name,
                             const std::optional<std::string>& path,
                             const std::optional<int32_t>& port);
template <class ClientConfig>
Result<WebhookConfig> ConfigOfWebhook(const ClientConfig& from) {
  WebhookConfig config;
  if (from.service) {
    config = ServiceWebhook(from.service->namespace_, from.service->name, from.service->path,
                            from.service->port);
  } else if (from.url) {
    config.url = *from.url;
  } else {
    return Status::BadRequest("webhook configuration must have either service or URL");
  }
  config.ca_pem = std::string(from.caBundle.begin(), from.caBundle.end());
  return config;
}

// From a kubeconfig file: the server and CA of the current context's cluster, and the certificate
// or token of its user. The files that it refers to (certificate-authority, client-certificate,
// client-key, tokenFile) are read immediately; relative paths are relative to the kubeconfig.
// Errors: BadRequest with the file name and the invalid entry, also for users with exec,
// auth-provider or a password, which are not supported; NotFound if the kubeconfig cannot be read.
Result<WebhookConfig> ReadWebhookKubeconfig(const std::string& path);
// The same for the file's text; relative paths are relative to `directory`.
Result<WebhookConfig> ParseWebhookKubeconfig(std::string_view text, const std::string& directory);

}  // namespace cox::apiserver
