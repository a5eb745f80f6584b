// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What certificate signing requests carry, both in PEM. The functions return what is wrong, in Go's
// words where they are known; empty: nothing.
namespace cox::apiserver {

// A PKCS#10 request: the first block must be one.
std::string CertificateRequestProblem(std::string_view pem);
// The organizations of its subject, which become the groups of whoever holds the certificate.
// BadRequest, in the same words, if it is none.
Result<std::vector<std::string>> CertificateRequestOrganizations(std::string_view pem);

// The common name a PKCS#10 request asks for; empty if it has none. BadRequest with the problem.
Result<std::string> CertificateRequestCommonName(std::string_view pem);

// A chain of certificates as a signer issues it: blocks of certificates only, without headers. No
// bytes at all mean that nothing was issued yet, which is fine.
std::string CertificateChainProblem(std::string_view pem);

}  // namespace cox::apiserver
