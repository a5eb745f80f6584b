// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// What requests and options say as text.
namespace cox::sdk {

// "host:port", ":port", "[::1]:port". An empty host is every address. BadRequest.
struct ListenAddress {
  std::string host;
  uint16_t port = 0;
};
Result<ListenAddress> ParseListenAddress(std::string_view text);

// The time that a query ("timeout=10s&...") allows, a duration as Go writes it ("1m0s", "1.5s"); no
// more than `most`, and `most` where it says none.
std::chrono::milliseconds TimeoutOf(std::string_view query, std::chrono::milliseconds most);

// True for "application/json", with or without parameters.
bool IsJson(std::string_view content_type);

}  // namespace cox::sdk
