// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "api/core/v1.h"
#include "base/status.h"

// What controllers that put an object into every namespace have in common.
namespace cox::controllers {

inline bool IsTerminating(const core::v1::Namespace& ns) {
  return ns.metadata.deletionTimestamp.has_value() ||
         ns.status.phase == core::v1::kNamespaceTerminating;
}

// OK where creating an object failed because it is there, or because its namespace is going or
// gone: there is nothing left to do.
inline Status CreatedOrNotWanted(const Status& status) {
  if (status.ok() || status.Is(Reason::kAlreadyExists) || status.Is(Reason::kNotFound)) return {};
  const auto& causes = status.details().causes;
  const bool going = std::any_of(causes.begin(), causes.end(), [](const StatusCause& cause) {
    return cause.type == "NamespaceTerminating";
  });
  return going ? Status() : status;
}

}  // namespace cox::controllers
