// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/flags.h"
#include "base/watched_file.h"
#include "net/tls.h"

// The keys of an API server: those named by flags, otherwise those in --cert-dir, where they are
// created if they do not exist.
namespace cox::cmd {

Result<net::CertificatePair> ServingCertificate(const Flags& flags);
// The paths of the serving certificate.
struct ServingFiles {
  std::string certificate, key;
};
ServingFiles ServingCertificateFiles(const Flags& flags);
// Updates `tls` whenever the certificate files change, during the lifetime of the result.
Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> FollowServingCertificate(
    const Context& ctx, const Flags& flags, std::shared_ptr<const net::ServerTls> tls);

// The key for service account tokens (PEM), and its path.
Result<std::string> SigningKey(const Flags& flags);
std::string SigningKeyFile(const Flags& flags);

}  // namespace cox::cmd
