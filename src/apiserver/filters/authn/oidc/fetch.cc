// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/fetch.h"

#include "apiserver/webhook/webhook_config.h"
#include "net/client.h"

namespace cox::apiserver {

IssuerKeys::Fetch FetchOverTls(const std::string& ca_pem) {
  return [ca_pem](const Context& ctx, const std::string& url) -> Result<std::string> {
    COX_ASSIGN_OR_RETURN(const WebhookUrl parts, ParseWebhookUrl(url));
    if (!parts.tls) return Status::BadRequest("not an https URL: " + url);
    // Rare enough for a separate connection.
    COX_ASSIGN_OR_RETURN(const std::unique_ptr<net::Client> client,
                         net::Client::Create(ctx, {.host = parts.host,
                                                   .port = parts.port,
                                                   .tls = true,
                                                   .tls_options = {.ca_pem = ca_pem},
                                                   .max_response_bytes = kMaxIssuerResponse}));
    Context limit = ctx.Child();
    COX_ASSIGN_OR_RETURN(const net::Response response,
                         client->Do(limit, {.method = "GET",
                                            .target = parts.target,
                                            .headers = {{"accept", "application/json"},
                                                        {"user-agent", "kube-apiserver"}}}));
    if (response.status != 200) {
      return Status::Unavailable("GET " + url + " answered " + std::to_string(response.status));
    }
    std::string body;
    for (const Bytes& piece : response.body) body += piece.view();
    return body;
  };
}

}  // namespace cox::apiserver
