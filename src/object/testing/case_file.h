// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/patch/precondition.h"
#include "object/type/value.h"

// Reads the test cases in object/patch/testdata/.
namespace cox::patch {

// One test case: a line of a file.
class Case {
 public:
  explicit Case(Value fields) : fields_(std::move(fields)) {}

  // A field, or null if the case does not have it.
  const Value& operator[](std::string_view field) const;
  std::string_view Text(std::string_view field) const;
  // Members that the patch must not change: "kind", "metadata.name".
  std::vector<Precondition> Preconditions() const;

  // Fails the running test unless `result` is as expected.
  void Expect(const Result<Value>& result) const;

 private:
  Value fields_;
};

// REQUIRES: `file` is a name in testdata/. Fails the test if it cannot be read.
std::vector<Case> ReadCases(const std::string& file);

// Parses a document; fails the test if it is not JSON.
Value Json(std::string_view text);

}  // namespace cox::patch
