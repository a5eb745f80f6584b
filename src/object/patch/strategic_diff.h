// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "object/patch/strategic_meta.h"
#include "object/type/type.h"
#include "object/type/value.h"

// Comparison for strategic merge patch. Private to this folder.
namespace cox::patch::strategic {

struct DiffOptions {
  bool deletions = true;  // include members that only `original` has
  bool changes = true;    // include members that `modified` adds or changes
  bool order = true;      // include order directives for merged lists
};

// The patch from `original` to `modified`, restricted by the options.
Result<Value::Object> DiffObjects(const Value::Object& original, const Value::Object& modified,
                                  const Type& type, const DiffOptions& options);

// Whether two patches of one document set or remove the same member differently.
Result<bool> HaveConflict(const Value::Object& a, const Value::Object& b, const Type& type);

}  // namespace cox::patch::strategic
