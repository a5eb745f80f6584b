// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/type/value.h"

namespace cox::sdk {

// What a handler did to its copy of an object, done to the object as it was sent.
//
// The handler works on a struct: `before` is what the struct showed at first, `after` what it shows
// now. The struct drops fields that it does not know and shows others that were never sent (an
// empty status), so neither can stand for the object itself. Rebase gives `sent` with just the
// differences of the two: the rest, known or not, stays byte for byte.
//
//   sent    {"spec": {"containers": [{"name": "a", "newField": 1}]}}
//   before  {"spec": {"containers": [{"name": "a", "resources": {}}]}, "status": {}}
//   after   {"spec": {"containers": [{"name": "b", ...}, {"name": "a", ...}]}, "status": {}}
//   gives   {"spec": {"containers": [{"name": "b", ...}, {"name": "a", "newField": 1}]}}
//
// Items of lists are recognised by being equal, else by their name, so an item keeps what is
// unknown of it when others are put before it.
Value Rebase(const Value& sent, const Value& before, const Value& after);

}  // namespace cox::sdk
