// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "object/patch/strategic_meta.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Comparing, the other recursive half of strategic merge patch. Private to this folder.
namespace cox::patch::strategic {

struct DiffOptions {
  bool deletions = true;  // say what `original` has and `modified` lacks
  bool changes = true;    // say what `modified` adds or has different
  bool order = true;      // say in which order the items of merging lists come
};

// The patch from `original` to `modified`, without what the options leave out.
Result<Value::Object> DiffObjects(const Value::Object& original, const Value::Object& modified,
                                  const Type& type, const DiffOptions& options);

// Whether two patches for one document set or remove the same thing differently.
Result<bool> HaveConflict(const Value::Object& a, const Value::Object& b, const Type& type);

}  // namespace cox::patch::strategic
