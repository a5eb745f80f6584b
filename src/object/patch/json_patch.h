// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/json/json.h"
#include "object/type/value.h"

// JSON Patch (RFC 6902): a list of add, remove, replace, move, copy and test operations.
//
// Where the API server deviates from the RFC, this follows the server:
//   * array indices may be negative (counted from the end) and have leading zeros;
//   * replace creates a missing object member; remove and move of a missing one fail;
//   * a missing object member equals null: test of null succeeds, copy copies null;
//   * add without a value adds null; only replace and test accept the empty path (the whole
//     document).
// Where the server is inconsistent, this follows the RFC: test compares values, not their text
// ("\u0061" equals "a", 1.0 equals 1).
namespace cox::patch {

struct JsonPatchOperation {
  // Absent fields and nulls are empty; which fields are required depends on the operation.
  std::optional<std::string> op;
  std::optional<std::string> path;
  std::optional<std::string> from;
  Value value;
};

using JsonPatch = std::vector<JsonPatchOperation>;

// Parses the body of a request. `strict` receives duplicate and unknown fields of operations.
// Errors: BadRequest "error decoding patch: ..."; RequestEntityTooLarge for more than
//   limits::kMaxJsonPatchOperations.
Result<JsonPatch> ParseJsonPatch(std::string_view text, json::Strictness* strict = nullptr);
Result<JsonPatch> DecodeJsonPatch(const Value& patch);

// Applies the operations in order; all or none.
// Errors: Invalid, with a text that contains the failed operation and the cause: "testing value /a
//   failed: test failed", "... exceeding the limit ..." if copies together exceed
//   limits::kMaxJsonPatchCopyBytes.
// Cost: operations change the document in place; an insertion into an object or array moves the
// following elements.
Result<Value> ApplyJsonPatch(Value document, const JsonPatch& patch);

}  // namespace cox::patch
