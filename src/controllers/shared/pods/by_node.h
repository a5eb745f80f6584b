// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/core/v1.h"

namespace cox::controllers::pods {

// Index key: Pods by spec.nodeName.
struct ByNode {
  static constexpr std::string_view kName = "spec.nodeName";
  static std::string Of(const core::v1::Pod& pod) { return pod.spec.nodeName; }
};

}  // namespace cox::controllers::pods
