// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The text of single JSON values, as encoded and decoded by Go.
namespace cox::json {

void WriteInt(int64_t value, std::string* out);
// The shortest text that is parsed as the same number; with an exponent below 1e-6 and from 1e21.
// NaN and infinities, which JSON cannot represent, become null.
void WriteDouble(double value, std::string* out);
// False if the number is out of the range of double.
bool ToDouble(std::string_view number, double* value);

// Base64 (RFC 4648, padded), the encoding of byte fields.
void WriteBase64(std::string_view bytes, std::string* out);
// Skips \r and \n like Go. On an invalid character, returns false and its offset.
bool ReadBase64(std::string_view text, std::string* bytes, size_t* bad_at);

// Copies a valid JSON text without its white space, with <, > and & escaped.
void WriteCompact(std::string_view text, std::string* out);

}  // namespace cox::json
