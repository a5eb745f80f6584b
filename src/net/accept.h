// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

// Parsing of Accept, Accept-Encoding and Content-Type headers.
namespace cox::net {

// One alternative of an Accept header, or a Content-Type: `application/json;as=Table;q=0.5`. The
// views refer to the header.
struct MediaRange {
  std::string_view type;  // with subtype; as written
  std::vector<std::pair<std::string_view, std::string_view>> parameters;  // without q
  double quality = 1.0;

  // The last parameter of that name; empty if there is none.
  std::string_view Parameter(std::string_view name) const;
};

// Never fails: an invalid media type is kept as an unknown type, and an invalid quality counts as
// 1.
MediaRange ParseMediaRange(std::string_view text);

// The alternatives of an Accept header, best quality first; equal qualities keep their order. Empty
// alternatives are dropped.
std::vector<MediaRange> ParseAccept(std::string_view header);

// Whether an Accept-Encoding header lists gzip with a quality other than 0.
bool AcceptsGzip(std::string_view header);

}  // namespace cox::net
