// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/serving.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "base/file_watch.h"
#include "base/log.h"
#include "net/tls.h"

namespace cox::cmd {
namespace {

Result<net::CertificatePair> Certificate(const Flags& flags) {
  const std::string certificate = flags.Get("tls-cert-file");
  const std::string key = flags.Get("tls-private-key-file");
  if (certificate.empty() != key.empty()) {
    return Status::BadRequest("--tls-cert-file and --tls-private-key-file belong together");
  }
  if (certificate.empty()) {
    return net::MakeCertificate({.common_name = "localhost",
                                 .organizations = {},
                                 .dns_names = {"localhost"},
                                 .ip_addresses = {"127.0.0.1"}},
                                nullptr);
  }
  net::CertificatePair pair;
  COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadBoundedFile(certificate));
  COX_ASSIGN_OR_RETURN(pair.key_pem, ReadBoundedFile(key));
  return pair;
}

net::Response Text(int status, const std::string& text) {
  return {.status = status,
          .headers = {{"content-type", "text/plain; charset=utf-8"}},
          .body = {Bytes(text + "\n")}};
}

}  // namespace

Result<std::unique_ptr<SecureServing>> SecureServing::Start(const Context& ctx,
                                                            const Component& component) {
  const Flags& flags = component.flags;
  COX_ASSIGN_OR_RETURN(const int64_t port, flags.GetInt("secure-port", 0, 65535));
  if (port == 0) return std::unique_ptr<SecureServing>();
  COX_ASSIGN_OR_RETURN(net::CertificatePair certificate, Certificate(flags));
  COX_ASSIGN_OR_RETURN(std::shared_ptr<const net::ServerTls> tls,
                       net::ServerTls::Create({.certificate = std::move(certificate),
                                               .by_name = {},
                                               .client_ca_pem = {},
                                               .request_client_certificate = false,
                                               .cipher_suites = {}}));
  auto serving = std::make_unique<SecureServing>(ctx, component);
  if (flags.Has("tls-cert-file")) {
    COX_ASSIGN_OR_RETURN(
        serving->certificate_,
        FollowCertificateFiles(ctx, {flags.Get("tls-cert-file"), flags.Get("tls-private-key-file")},
                               tls));
  }
  COX_ASSIGN_OR_RETURN(serving->endpoint_,
                       net::Endpoint::Start(
                           ctx, "serving", {flags.Get("bind-address"), static_cast<uint16_t>(port)},
                           [raw = serving.get()](Context& call, const net::Request& request) {
                             return raw->Answer(call, request);
                           },
                           std::move(tls)));
  COX_INFO(ctx.log(), "Serving securely", {"address", flags.Get("bind-address")},
           {"port", serving->port()});
  return serving;
}

net::Response SecureServing::Answer(Context& ctx, const net::Request& request) {
  const Status may = auth_.Check(ctx, request);
  if (may.Is(Reason::kUnauthorized)) return Text(401, may.message());
  if (may.Is(Reason::kForbidden)) return Text(403, may.message());
  if (!may.ok()) return Text(503, "the API server does not say who may see this");
  std::optional<Inspection> found = manager_.Inspect(ctx, request.path(), request.query());
  if (!found) return Text(404, "404 page not found");
  return {.status = found->status,
          .headers = {{"content-type", std::move(found->content_type)},
                      {"x-content-type-options", "nosniff"}},
          .body = {Bytes(std::move(found->body))}};
}

}  // namespace cox::cmd
