// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

// What requests say beside their bodies.
namespace cox::sdk {

// The time that a query ("timeout=10s&...") allows, a duration as Go writes it ("1m0s", "1.5s"): at
// least a millisecond and no more than `most`; `most` where it names no time, or zero, or less.
std::chrono::milliseconds TimeoutOf(std::string_view query, std::chrono::milliseconds most);

// True for "application/json", with or without parameters.
bool IsJson(std::string_view content_type);

}  // namespace cox::sdk
