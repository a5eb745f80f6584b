// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/value.h"

// Reads testdata/ for the tests of this folder.
namespace cox::patch {

// One line of a file there.
class Case {
 public:
  explicit Case(Value fields) : fields_(std::move(fields)) {}

  // A field, null where the case has none.
  const Value& operator[](std::string_view field) const;
  std::string_view Text(std::string_view field) const;
  // Required members that the patch must not change: "kind", "metadata.name".
  std::vector<Precondition> Preconditions() const;

  // Fails the running test unless `result` is what the case expects.
  void Expect(const Result<Value>& result) const;

 private:
  Value fields_;
};

// REQUIRES: `file` is a name in testdata/. Fails the test if it cannot be read.
std::vector<Case> ReadCases(const std::string& file);

// A document; fails the test if it is no JSON.
Value Json(std::string_view text);

}  // namespace cox::patch
