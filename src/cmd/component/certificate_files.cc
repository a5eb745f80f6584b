// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/certificate_files.h"

#include <span>
#include <utility>

namespace cox::cmd {

Result<std::unique_ptr<WatchedFile<net::CertificatePair>>> FollowCertificateFiles(
    const Context& ctx, const CertificateFiles& files, std::shared_ptr<const net::ServerTls> tls) {
  using Pair = std::shared_ptr<const net::CertificatePair>;
  return WatchedFile<net::CertificatePair>::Open(
      ctx, {.name = "serving-cert", .paths = {files.certificate, files.key}},
      [tls = std::move(tls)](std::span<const std::string> texts) -> Result<Pair> {
        COX_RETURN_IF_ERROR(tls->Replace({texts[0], texts[1]}, {}));
        // The TLS context has its own copy.
        return std::make_shared<const net::CertificatePair>();
      });
}

}  // namespace cox::cmd
