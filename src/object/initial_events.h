// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cox {

// The annotation, with the value "true", of the bookmark that ends the initial events of a watch.
inline constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

}  // namespace cox
