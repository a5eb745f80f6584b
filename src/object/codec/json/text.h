// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The text of single JSON values, as Go writes and reads them.
namespace cox::json {

void WriteInt(int64_t value, std::string* out);
// Shortest form that reads back the same; exponent form below 1e-6 and from 1e21. Not-a-number and
// infinities, which JSON cannot say, become null.
void WriteDouble(double value, std::string* out);
// False if the number is beyond a double's range.
bool ToDouble(std::string_view number, double* value);

// Base64 (RFC 4648, padded), as byte fields are written.
void WriteBase64(std::string_view bytes, std::string* out);
// Skips \r and \n as Go does. On a bad character returns false and says at which byte.
bool ReadBase64(std::string_view text, std::string* bytes, size_t* bad_at);

// Copies a valid JSON text without its white space, with <, > and & escaped.
void WriteCompact(std::string_view text, std::string* out);

}  // namespace cox::json
