// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "api/core/v1.h"
#include "object/core/containers.h"

namespace cox::core_rules {

// What the containers of a Pod take together. The main ones and the sidecars run at once and add
// up; before that each init container runs beside the sidecars that were started until then. The
// larger of both counts, for each resource by itself.
//
// Components count in amounts of their own (exact quantities, whole units, one resource):
//   of(container, init)     what one takes; init: it stands in spec.initContainers
//   add(amount, more)       adds to `amount`
//   raise(amount, other)    makes it the larger of both
// A default amount is nothing. Amounts for the Pod as a whole and overhead are the caller's.
template <class Of, class Add, class Raise>
auto TakenTogether(const core::v1::PodSpec& spec, Of of, Add add, Raise raise) {
  using Amount = std::invoke_result_t<Of&, const core::v1::Container&, bool>;
  Amount total{};
  for (const core::v1::Container& main : spec.containers) add(total, of(main, false));
  Amount sidecars{};
  Amount peak{};
  for (const core::v1::Container& init : spec.initContainers) {
    Amount now = of(init, true);
    if (IsSidecar(init)) {
      add(total, now);
      add(sidecars, now);
      now = sidecars;
    } else {
      add(now, sidecars);
    }
    raise(peak, now);
  }
  raise(total, peak);
  return total;
}

}  // namespace cox::core_rules
