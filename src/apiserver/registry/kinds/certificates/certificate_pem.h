// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The PEM contents of certificate signing requests. The functions return an error text, Go's where
// it is known; empty: valid.
namespace cox::apiserver {

// The first block must be a PKCS#10 request.
std::string CertificateRequestProblem(std::string_view pem);
// The organizations of the subject, which become the groups of the client that uses the
// certificate. BadRequest with the error text if `pem` is invalid.
Result<std::vector<std::string>> CertificateRequestOrganizations(std::string_view pem);

// The common name in a PKCS#10 request; empty if it has none. BadRequest with the error text.
Result<std::string> CertificateRequestCommonName(std::string_view pem);

// A certificate chain as issued by a signer: CERTIFICATE blocks only, without headers. Empty `pem`
// is valid: no certificate is issued yet.
std::string CertificateChainProblem(std::string_view pem);

}  // namespace cox::apiserver
