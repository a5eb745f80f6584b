// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apiserver/registry/field_messages.h"  // IWYU pragma: export
#include "object/map.h"
#include "object/scalar/quantity.h"
#include "object/validation/field_error.h"
#include "object/validation/object_meta.h"

// Small pieces that the rules of many kinds share.
namespace cox::apiserver {

// A quantity as errors quote it: "1500m".
inline FieldValue ValueOf(const Quantity& quantity) { return FieldValue(quantity.ToString()); }

// The same keys with the same values.
template <class V>
bool SameMap(const Map<V>& a, const Map<V>& b) {
  if (a.size() != b.size()) return false;
  for (auto left = a.begin(), right = b.begin(); left != a.end(); ++left, ++right) {
    if (left->first != right->first || !(left->second == right->second)) return false;
  }
  return true;
}

// Keys and values of labels or a node selector.
inline FieldErrorList ValidateLabels(const Map<std::string>& labels, const FieldPath& path) {
  std::vector<validation::StringPair> pairs;
  pairs.reserve(labels.size());
  for (const auto& [key, value] : labels) pairs.emplace_back(key, value);
  return validation::ValidateLabels(pairs, path);
}

}  // namespace cox::apiserver
