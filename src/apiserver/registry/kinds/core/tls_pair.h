// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// Returns why a TLS server cannot use the certificate (chain) and the private key, both PEM; empty
// if it can.
std::string TlsPairProblem(std::string_view certificate, std::string_view key);

}  // namespace cox::apiserver
