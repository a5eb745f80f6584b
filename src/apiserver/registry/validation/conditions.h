// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "api/meta/v1.h"
#include "object/type/equal.h"
#include "object/validation/field_error.h"

// Conditions in the status of a kind.
namespace cox::apiserver {

// Each type of metav1.Condition must occur only once, and every condition must be complete.
FieldErrorList ValidateConditions(const List<meta::v1::Condition>& conditions,
                                  const FieldPath& path);

// Sets the condition of `wanted`'s type, for any condition struct. lastTransitionTime changes only
// with the status. True if something changed.
template <class Condition>
bool SetCondition(List<Condition>& conditions, Condition wanted, const Time& now) {
  wanted.lastTransitionTime = now;
  for (Condition& condition : conditions) {
    if (condition.type != wanted.type) continue;
    if (condition.status == wanted.status) wanted.lastTransitionTime = condition.lastTransitionTime;
    if (DeepEqual(condition, wanted)) return false;
    condition = std::move(wanted);
    return true;
  }
  conditions.push_back(std::move(wanted));
  return true;
}

}  // namespace cox::apiserver
