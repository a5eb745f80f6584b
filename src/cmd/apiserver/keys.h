// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/flags.h"
#include "cmd/component/certificate_files.h"
#include "net/tls.h"

// The keys of an API server: those named by flags, otherwise those in --cert-dir, where they are
// created if they do not exist.
namespace cox::cmd {

Result<net::CertificatePair> ServingCertificate(const Flags& flags);
// The paths of the serving certificate.
CertificateFiles ServingCertificateFiles(const Flags& flags);

// The key for service account tokens (PEM), and its path.
Result<std::string> SigningKey(const Flags& flags);
std::string SigningKeyFile(const Flags& flags);

}  // namespace cox::cmd
