// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "object/scalar/quantity.h"
#include "object/type/map.h"

// Arithmetic of how much of what: {"requests.cpu": 500m, "pods": 1}.
namespace cox::apiserver::amounts {

using Amounts = Map<Quantity>;

// Adds each amount of `more`; what is not there counts as nothing.
void Add(Amounts& total, const Amounts& more);
// Raises each amount to that of `other`, where that is larger or the only one.
void RaiseTo(Amounts& amounts, const Amounts& other);
// What `after` has more than `before`, without what is the same or less.
Amounts Increase(const Amounts& after, const Amounts& before);
// Those of `amounts` whose names `names` has too.
Amounts Masked(const Amounts& amounts, const Amounts& names);
// "limits.memory=2Gi,pods=1"
std::string ToText(const Amounts& amounts);

}  // namespace cox::apiserver::amounts
