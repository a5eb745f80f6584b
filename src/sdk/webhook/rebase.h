// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/value.h"

namespace cox::sdk {

// Applies a handler's changes to the object as the API server sent it.
//
// The handler works on a struct: `before` is the struct's initial JSON, `after` its JSON after the
// handler. The struct drops unknown fields and adds fields that were not sent (an empty status), so
// neither can replace the object. Rebase returns `sent` with only the differences between the two;
// all other fields, known or unknown, are unchanged.
//
//   sent    {"spec": {"containers": [{"name": "a", "newField": 1}]}}
//   before  {"spec": {"containers": [{"name": "a", "resources": {}}]}, "status": {}}
//   after   {"spec": {"containers": [{"name": "b", ...}, {"name": "a", ...}]}, "status": {}}
//   gives   {"spec": {"containers": [{"name": "b", ...}, {"name": "a", "newField": 1}]}}
//
// List items are matched by equality, then by name, so that an item keeps its unknown fields when
// other items are inserted before it.
Value Rebase(const Value& sent, const Value& before, const Value& after);

}  // namespace cox::sdk
