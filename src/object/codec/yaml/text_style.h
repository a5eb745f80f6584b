// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// The style in which the writer prints a string, chosen so that parsers restore the same string.
namespace cox::yaml {

enum class TextStyle : uint8_t { kPlain, kSingleQuoted, kDoubleQuoted, kLiteral };

// Double quotes for text that would be parsed as another type ("yes", "1.5", a time, "") and for
// non-printable characters; a literal block for several lines; single quotes for text that cannot
// be plain ("a: b", "- c"). A key (`simple_key`) must stay on its line.
// REQUIRES: valid UTF-8, as for all functions here.
TextStyle ChooseStyle(std::string_view text, bool simple_key);

// The indicators after "
// ": an indentation if the text begins with white space, "-" if it does not end with a break, "+"
// if it ends with several.
std::string BlockHeader(std::string_view text);

// The bytes of the character at `i`.
std::string_view RuneAt(std::string_view text, size_t i);
bool IsBreak(std::string_view rune);  // CR, LF, NEL, LS, PS
bool HasBreak(std::string_view text);
// For double-quoted strings.
bool NeedsEscape(std::string_view rune);
std::string Escape(std::string_view rune);

bool IsUtf8(std::string_view text);
// Invalid UTF-8 is replaced by U+FFFD, as in JSON.
std::string RepairUtf8(std::string_view text);

}  // namespace cox::yaml
