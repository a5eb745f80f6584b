// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/reviews/issuer_discovery.h"

#include "apiserver/registry/store/errors.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

struct Document {
  std::string_view media_type;
  std::string text;
};

// Reports whether an Accept header allows `media_type`, the only supported one.
bool Accepts(std::string_view header, std::string_view media_type) {
  if (TrimSpace(header).empty()) return true;
  const std::string any = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
  for (std::string_view clause : Split(header, ',')) {
    const std::string_view type = TrimSpace(Cut(clause, ';').before);
    if (type == "*/*" || type == any || type == media_type) return true;
  }
  return false;
}

void Respond(Call& call, const Document& document) {
  if (call.request().method != "GET") return call.RespondStatus(MethodNotAllowedError());
  if (!Accepts(call.Header("accept").value_or(""), document.media_type)) {
    return call.RespondStatus(Status(
        Reason::kNotAcceptable,
        "406: Not Acceptable\n\nAvailable representations: " + std::string(document.media_type)));
  }
  net::Response response;
  response.headers.Add("content-type", std::string(document.media_type));
  // The keys change only with the server's configuration.
  response.headers.Add("cache-control", "public, max-age=3600");
  response.body.emplace_back(document.text);
  call.RespondWith(std::move(response));
}

}  // namespace

IssuerDiscovery::IssuerDiscovery(const ServiceAccountTokens& tokens, const std::string& address)
    : tokens_(tokens), jwks_uri_("https://" + address + "/openid/v1/jwks") {}

bool IssuerDiscovery::Handle(Call& call) const {
  if (call.info.path == "/.well-known/openid-configuration") {
    Respond(call, {"application/json", tokens_.DiscoveryDocument(jwks_uri_)});
    return true;
  }
  if (call.info.path == "/openid/v1/jwks") {
    Respond(call, {"application/jwk-set+json", tokens_.Jwks()});
    return true;
  }
  return false;
}

}  // namespace cox::apiserver
