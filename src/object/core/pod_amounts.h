// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "api/core/v1.h"
#include "object/core/containers.h"

namespace cox::core_rules {

// The total resources of a Pod's containers. Main containers and sidecars run concurrently and add
// up; before that, each init container runs concurrently with the sidecars started so far. The
// result is the maximum of both, separately for each resource.
//
// Callers supply the type of amounts (exact quantities, whole units, one resource):
//   of(container, init)     the amount of one container; init: it is in spec.initContainers
//   add(amount, more)       adds `more` to `amount`
//   raise(amount, other)    sets `amount` to the maximum of both
// A default-constructed amount is zero. Pod-level resources and overhead are left to the caller.
template <class Of, class Add, class Raise>
auto AggregateContainerResources(const core::v1::PodSpec& spec, Of of, Add add, Raise raise) {
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
