// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/flags.h"
#include "base/watched_file.h"
#include "net/tls.h"

// The keys an API server needs: those that flags name, else those in --cert-dir, where they are
// made if there are none.
namespace cox::cmd {

Result<net::CertificatePair> ServingCertificate(const Flags& flags);
// Where that is.
struct ServingFiles {
  std::string certificate, key;
};
ServingFiles ServingCertificateFiles(const Flags& flags);
// Gives `tls` the certificate anew whenever its files change, while this lives.
Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> FollowServingCertificate(
    const Context& ctx, const Flags& flags, std::shared_ptr<const net::ServerTls> tls);

// For service account tokens, PEM, and where it is.
Result<std::string> SigningKey(const Flags& flags);
std::string SigningKeyFile(const Flags& flags);

}  // namespace cox::cmd
