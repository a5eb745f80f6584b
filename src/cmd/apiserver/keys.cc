// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/keys.h"

#include <filesystem>

#include "apiserver/filters/authn/jose/keys.h"
#include "base/file_watch.h"
#include "cmd/apiserver/files.h"

namespace cox::cmd {

CertificateFiles ServingCertificateFiles(const Flags& flags) {
  if (flags.Has("tls-cert-file")) {
    return {flags.Get("tls-cert-file"), flags.Get("tls-private-key-file")};
  }
  const std::filesystem::path dir = flags.Get("cert-dir");
  return {dir / "apiserver.crt", dir / "apiserver.key"};
}

Result<net::CertificatePair> ServingCertificate(const Flags& flags) {
  net::CertificatePair pair;
  const auto [certificate, key] = ServingCertificateFiles(flags);
  std::error_code error;
  if (flags.Has("tls-cert-file") ||
      (std::filesystem::exists(certificate, error) && std::filesystem::exists(key, error))) {
    COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadBoundedFile(certificate));
    COX_ASSIGN_OR_RETURN(pair.key_pem, ReadBoundedFile(key));
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
  std::filesystem::create_directories(flags.Get("cert-dir"), error);
  COX_RETURN_IF_ERROR(WriteFile(certificate, pair.certificate_pem, /*secret=*/false));
  COX_RETURN_IF_ERROR(WriteFile(key, pair.key_pem, /*secret=*/true));
  return pair;
}

std::string SigningKeyFile(const Flags& flags) {
  if (flags.Has("service-account-signing-key-file")) {
    return flags.Get("service-account-signing-key-file");
  }
  return std::filesystem::path(flags.Get("cert-dir")) / "service-account.key";
}

Result<std::string> SigningKey(const Flags& flags) {
  const std::filesystem::path path = SigningKeyFile(flags);
  std::error_code error;
  if (flags.Has("service-account-signing-key-file") || std::filesystem::exists(path, error)) {
    return ReadBoundedFile(path);
  }
  COX_ASSIGN_OR_RETURN(std::string pem, apiserver::GenerateSigningKeyPem());
  std::filesystem::create_directories(path.parent_path(), error);
  COX_RETURN_IF_ERROR(WriteFile(path, pem, /*secret=*/true));
  return pem;
}

}  // namespace cox::cmd
