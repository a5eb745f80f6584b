// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/watched_file.h"
#include "net/tls.h"

namespace cox::cmd {

// The files of a serving certificate.
struct CertificateFiles {
  std::string certificate;
  std::string key;
};

// Replaces the certificate of `tls` when the files change, until the returned object is destroyed.
// New connections use the new certificate. Its value is not used.
Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> FollowCertificateFiles(
    const Context& ctx, const CertificateFiles& files, std::shared_ptr<const net::ServerTls> tls);

}  // namespace cox::cmd
