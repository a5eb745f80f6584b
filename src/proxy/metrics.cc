// SPDX-License-Identifier: Apache-2.0
#include "proxy/metrics.h"

#include <string>

namespace cox::proxy {

net::Response RespondWithMetrics(const MetricsRegistry& registry, const net::Request& request) {
  net::Response response;
  response.headers = {{"content-type", "text/plain; charset=utf-8"}};
  if (request.path() == "/metrics") {
    response.headers = {{"content-type", std::string(MetricsRegistry::kContentType)}};
    response.body.emplace_back(registry.Render());
  } else if (request.path() == "/proxyMode") {
    response.body.push_back(Bytes::Static("nftables"));
  } else if (request.path() == "/healthz") {
    response.body.push_back(Bytes::Static("ok"));
  } else {
    response.status = 404;
  }
  return response;
}

}  // namespace cox::proxy
