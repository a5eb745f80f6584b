// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox {

// Any JSON value, kept as its text: RawExtension, FieldsV1 and the JSON of custom resource
// definitions. Empty text stands for an absent value and is written as null.
class RawJson {
 public:
  std::string raw;

  bool empty() const { return raw.empty(); }
  friend bool operator==(const RawJson&, const RawJson&) = default;
};

}  // namespace cox
