// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/keys.h"

#include <filesystem>

#include "apiserver/authn/service_account/keys.h"
#include "cmd/apiserver/files.h"

namespace cox::cmd {

Result<net::CertificatePair> ServingCertificate(const Flags& flags) {
  net::CertificatePair pair;
  if (flags.Has("tls-cert-file")) {
    COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadFile(flags.Get("tls-cert-file")));
    COX_ASSIGN_OR_RETURN(pair.key_pem, ReadFile(flags.Get("tls-private-key-file")));
    return pair;
  }
  const std::filesystem::path dir = flags.Get("cert-dir");
  const std::filesystem::path certificate = dir / "apiserver.crt", key = dir / "apiserver.key";
  std::error_code error;
  if (std::filesystem::exists(certificate, error) && std::filesystem::exists(key, error)) {
    COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadFile(certificate));
    COX_ASSIGN_OR_RETURN(pair.key_pem, ReadFile(key));
    return pair;
  }
  std::vector<std::string> addresses = {"127.0.0.1"};
  const std::string bind = flags.Get("bind-address");
  if (bind != "0.0.0.0" && bind != "::" && bind != "127.0.0.1") addresses.push_back(bind);
  if (flags.Has("advertise-address")) addresses.push_back(flags.Get("advertise-address"));
  COX_ASSIGN_OR_RETURN(
      pair, net::MakeCertificate(
                {.common_name = "kube-apiserver",
                 .organizations = {},
                 .dns_names = {"localhost", "kubernetes", "kubernetes.default",
                               "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
                 .ip_addresses = std::move(addresses)},
                nullptr));
  std::filesystem::create_directories(dir, error);
  COX_RETURN_IF_ERROR(WriteFile(certificate, pair.certificate_pem, /*secret=*/false));
  COX_RETURN_IF_ERROR(WriteFile(key, pair.key_pem, /*secret=*/true));
  return pair;
}

Result<std::string> SigningKey(const Flags& flags) {
  if (flags.Has("service-account-signing-key-file")) {
    return ReadFile(flags.Get("service-account-signing-key-file"));
  }
  const std::filesystem::path dir = flags.Get("cert-dir");
  const std::filesystem::path path = dir / "service-account.key";
  std::error_code error;
  if (std::filesystem::exists(path, error)) return ReadFile(path);
  COX_ASSIGN_OR_RETURN(std::string pem, apiserver::GenerateSigningKeyPem());
  std::filesystem::create_directories(dir, error);
  COX_RETURN_IF_ERROR(WriteFile(path, pem, /*secret=*/true));
  return pem;
}

}  // namespace cox::cmd
