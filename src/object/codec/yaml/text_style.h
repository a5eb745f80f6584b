// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// How the writer shows a string: decided by what a reader would make of it.
namespace cox::yaml {

enum class TextStyle : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral };

// Double quotes for what would read as something else ("yes", "1.5", a time, "") and for characters
// that cannot be seen; a literal block for several lines; single quotes for what plain text cannot
// hold ("a: b", "- c"). A key (`simple_key`) must stay on its line.
// REQUIRES: valid UTF-8, as all here.
TextStyle ChooseStyle(std::string_view text, bool simple_key);

// What follows "|": an indentation where the text begins with white space, "-" where it does
// not end with a break, "+" where it ends with several.
std::string BlockHeader(std::string_view text);

// The bytes of the character at `i`.
std::string_view RuneAt(std::string_view text, size_t i);
bool IsBreak(std::string_view rune);  // CR, LF, NEL, LS, PS
bool HasBreak(std::string_view text);
// Inside double quotes.
bool NeedsEscape(std::string_view rune);
std::string Escape(std::string_view rune);

bool IsUtf8(std::string_view text);
// Bytes that are not UTF-8 become U+FFFD, as in JSON.
std::string RepairUtf8(std::string_view text);

}  // namespace cox::yaml
