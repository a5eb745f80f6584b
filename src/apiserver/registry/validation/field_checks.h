// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apiserver/registry/validation/field_messages.h"  // IWYU pragma: export
#include "object/scalar/quantity.h"
#include "object/type/map.h"
#include "object/validation/field_error.h"
#include "object/validation/object_meta.h"

// Validation helpers that many kinds share.
namespace cox::apiserver {

// A quantity as field errors contain it: "1500m".
inline FieldValue ValueOf(const Quantity& quantity) { return FieldValue(quantity.ToString()); }

// Validates keys and values of labels or of a node selector.
inline FieldErrorList ValidateLabels(const Map<std::string>& labels, const FieldPath& path) {
  std::vector<validation::StringPair> pairs;
  pairs.reserve(labels.size());
  for (const auto& [key, value] : labels) pairs.emplace_back(key, value);
  return validation::ValidateLabels(pairs, path);
}

}  // namespace cox::apiserver
