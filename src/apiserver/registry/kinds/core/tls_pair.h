// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace cox::apiserver {

// What is wrong with a certificate (chain) and its private key, both PEM, as a TLS server would
// say; empty: they can be used together.
std::string TlsPairProblem(std::string_view certificate, std::string_view key);

}  // namespace cox::apiserver
