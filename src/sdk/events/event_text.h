// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Adapts the texts of an Event to the API's limits.
namespace cox::sdk {

// The API's limits, in bytes.
inline constexpr size_t kMaxNote = 1024;
inline constexpr size_t kMaxWord = 128;  // reason, action, reportingInstance

// At most `limit` bytes of `text`, without splitting a UTF-8 character; truncated text ends with
// "...".
std::string CutText(std::string_view text, size_t limit);

// "web.17b2c3d4e5f60718": the object's name and the time. If the object's name is not a valid Event
// name (it contains capitals or colons), `kind` in lower case is used instead.
std::string EventName(std::string_view object, std::string_view kind, int64_t unix_nanos);

}  // namespace cox::sdk
