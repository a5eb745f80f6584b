// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/store.h"

namespace cox::storage {

// Where a list that came in pages goes on: the `continue` of the API. Opaque to clients, the same
// text as upstream's, so that a client may change servers between two pages.
struct ContinueToken {
  Revision revision = 0;  // the store as of the first page; -1: as it is when the next page is read
  std::string start;      // the first key of the next page

  // REQUIRES: `start` begins with `prefix`.
  std::string Encode(std::string_view prefix) const;
  // BadRequest with upstream's texts for what is no token.
  static Result<ContinueToken> Decode(std::string_view text, std::string_view prefix);
};

}  // namespace cox::storage
