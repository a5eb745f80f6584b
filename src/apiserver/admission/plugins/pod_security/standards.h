// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/pod_security/policy.h"

// The Pod Security Standards as a pure function from a Pod to its violations.
namespace cox::apiserver::pod_security {

// One violated control of the standards.
struct Violation {
  std::string reason;  // "host namespaces"
  std::string detail;  // "hostNetwork=true, hostPID=true"
};
using Violations = std::vector<Violation>;

// The violations of the standard in upstream's order: first the baseline controls, then the
// restricted ones, each sorted by name. Empty if there are none. Versions newer than this release
// are treated like this release. All containers are checked: init, regular and ephemeral ones.
Violations Evaluate(const LevelVersion& standard, const meta::v1::ObjectMeta& meta,
                    const core::v1::PodSpec& spec);

// "privileged, hostPort"
std::string Reasons(const Violations& violations);
// "privileged (container "c" must not ...), hostPort (...)"
std::string Details(const Violations& violations);

}  // namespace cox::apiserver::pod_security
