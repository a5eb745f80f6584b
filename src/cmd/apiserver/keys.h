// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cmd/flags.h"
#include "net/tls.h"

// The keys an API server needs: those that flags name, else those in --cert-dir, where they are
// made if there are none.
namespace cox::cmd {

Result<net::CertificatePair> ServingCertificate(const Flags& flags);
// For service account tokens, PEM.
Result<std::string> SigningKey(const Flags& flags);

}  // namespace cox::cmd
