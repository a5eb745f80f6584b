// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

// Helpers for query and header values of requests.
namespace cox::sdk {

// The timeout in a query ("timeout=10s&..."), in Go's duration format ("1m0s", "1.5s"), limited to
// at least 1 ms and at most `most`; `most` if it is absent, invalid, zero or negative.
std::chrono::milliseconds TimeoutOf(std::string_view query, std::chrono::milliseconds most);

// True for "application/json", with or without parameters.
bool IsJson(std::string_view content_type);

}  // namespace cox::sdk
