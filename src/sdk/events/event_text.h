// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// How the texts of an Event are made what the API takes.
namespace cox::sdk {

// The API's limits, in bytes.
inline constexpr size_t kMaxNote = 1024;
inline constexpr size_t kMaxWord = 128;  // reason, action, reportingInstance

// At most `limit` bytes of `text`, without half a character at the end; what was cut shows as
// "...".
std::string CutText(std::string_view text, size_t limit);

// "web.17b2c3d4e5f60718": the object's name and the time. An object whose name is no name for an
// Event (they have capitals, colons) is called by `kind` in lower case instead.
std::string EventName(std::string_view object, std::string_view kind, int64_t unix_nanos);

}  // namespace cox::sdk
