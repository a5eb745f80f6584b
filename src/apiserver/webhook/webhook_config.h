// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Where a webhook is, whom to trust there and as whom to come: made from the clientConfig of an API
// object or from a kubeconfig file, and the same to everything behind that.
namespace cox::apiserver {

struct WebhookConfig {
  // A Service of the cluster, reached by its address, which is looked up for each call: see
  // webhook_client.h. The URL names it https://<name>.<namespace>.svc:<port>/<path>.
  struct Service {
    std::string ns;
    std::string name;
    uint16_t port = 443;
  };

  std::string url;  // "https://host[:port][/path]"; http only from a kubeconfig
  std::optional<Service> service;
  std::string ca_pem;           // empty: the system's roots
  bool insecure = false;        // any certificate is taken; only by a kubeconfig that says so
  std::string server_name;      // in the server's certificate; empty: the URL's host
  std::string certificate_pem;  // of the client; empty: none
  std::string key_pem;
  std::string token;  // sent as bearer; never logged
  std::string user_agent = "kube-apiserver-admission";
};

// What a URL of a webhook consists of.
struct WebhookUrl {
  bool tls = true;
  std::string host;  // without brackets
  uint16_t port = 443;
  std::string authority;  // as it stands in the URL, for the Host header
  std::string target;     // path and query, at least "/"
};
// BadRequest for what is no http or https URL, or has user information or a fragment.
Result<WebhookUrl> ParseWebhookUrl(std::string_view url);

// Of the clientConfig of a webhook, as admission (admissionregistration.k8s.io) and conversion
// (apiextensions.k8s.io) have it: both types have the same fields. BadRequest where neither URL nor
// service is there: an object that was stored before it was validated.
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

// Of a kubeconfig file: the server and CA of the current context's cluster, the certificate or
// token of its user. Files it names (certificate-authority, client-certificate, client-key,
// tokenFile) are read now; relative paths are relative to the kubeconfig.
// BadRequest, with the file's name and the entry that is wrong (NotFound if that is a file that
// cannot be read); also for users that log in by a program (exec, auth-provider) or a password,
// which this server does not do.
Result<WebhookConfig> ReadWebhookKubeconfig(const std::string& path);
// The same of the file's text; `directory` is what relative paths are relative to.
Result<WebhookConfig> ParseWebhookKubeconfig(std::string_view text, const std::string& directory);

}  // namespace cox::apiserver
