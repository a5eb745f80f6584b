// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "api/core/v1.h"
#include "base/status.h"

// Shared by controllers that create an object in every namespace.
namespace cox::controllers {

inline bool IsTerminating(const core::v1::Namespace& ns) {
  return ns.metadata.deletionTimestamp.has_value() ||
         ns.status.phase == core::v1::kNamespaceTerminating;
}

// Returns OK if the creation failed because the object exists, or because its namespace is
// terminating or gone: in these cases nothing remains to be done.
inline Status IgnoreNamespaceTerminating(const Status& status) {
  if (status.ok() || status.Is(Reason::kAlreadyExists) || status.Is(Reason::kNotFound)) return {};
  const auto& causes = status.details().causes;
  const bool going = std::any_of(causes.begin(), causes.end(), [](const StatusCause& cause) {
    return cause.type == "NamespaceTerminating";
  });
  return going ? Status() : status;
}

}  // namespace cox::controllers
