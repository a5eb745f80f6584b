// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "storage/store.h"

namespace cox::storage {

// The `continue` token of a paginated list. Opaque to clients. The encoding is upstream's, so that
// a client can switch API servers between two pages.
struct ContinueToken {
  Revision revision = 0;  // of the first page; -1: the next page is read at the latest revision
  std::string start;      // the first key of the next page

  // REQUIRES: `start` begins with `prefix`.
  std::string Encode(std::string_view prefix) const;
  // Errors: BadRequest with upstream's texts if `text` is not a valid token.
  static Result<ContinueToken> Decode(std::string_view text, std::string_view prefix);
};

}  // namespace cox::storage
