// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

// What a peer accepts, and what it says a body is: headers of media types.
namespace cox::net {

// One alternative of an Accept header, or a Content-Type: `application/json;as=Table;q=0.5`. Views
// into the header.
struct MediaRange {
  std::string_view type;  // with subtype; as written
  std::vector<std::pair<std::string_view, std::string_view>> parameters;  // without q
  double quality = 1.0;

  // The last of that name; empty if there is none.
  std::string_view Parameter(std::string_view name) const;
};

// Never fails: what is no media type is one nobody knows, and a quality that is no number counts
// as 1.
MediaRange ParseMediaRange(std::string_view text);

// The alternatives of an Accept header, best quality first, equals in the order they stand. Empty
// ones are left out.
std::vector<MediaRange> ParseAccept(std::string_view header);

// Whether an Accept-Encoding header takes gzip: named, and not with a quality of 0.
bool AcceptsGzip(std::string_view header);

}  // namespace cox::net
