// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::yaml {

// Replaces base64 text (padded; line breaks are skipped) by what it encodes, as text: bytes that
// are not UTF-8 become U+FFFD, as they do in JSON. False if it is no base64; `text` is unspecified
// then.
bool DecodeBinary(std::string* text);

}  // namespace cox::yaml
