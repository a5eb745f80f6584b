// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "object/scalar/quantity.h"
#include "object/type/map.h"

// Arithmetic on resource lists: {"requests.cpu": 500m, "pods": 1}.
namespace cox::apiserver::amounts {

using Amounts = Map<Quantity>;

// Adds each amount of `more`; missing amounts count as zero.
void Add(Amounts& total, const Amounts& more);
// Sets each amount to the maximum of both.
void RaiseTo(Amounts& amounts, const Amounts& other);
// The positive differences between `after` and `before`.
Amounts Increase(const Amounts& after, const Amounts& before);
// The amounts whose names are also in `names`.
Amounts Masked(const Amounts& amounts, const Amounts& names);
// "limits.memory=2Gi,pods=1"
std::string ToText(const Amounts& amounts);

}  // namespace cox::apiserver::amounts
