// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/admission/plugins/pod_security/policy.h"

// The Pod Security Standards as code: a pure function from a Pod to what is wrong with it.
namespace cox::apiserver::pod_security {

// One control of the standards that a Pod does not meet.
struct Violation {
  std::string reason;  // "host namespaces"
  std::string detail;  // "hostNetwork=true, hostPID=true"
};
using Violations = std::vector<Violation>;

// What keeps the Pod from meeting the standard, in the order clients know: the controls of baseline
// first, each in the order of its name. Empty: it meets it. Versions newer than this release are
// this release's. All containers count: init, ordinary and ephemeral ones.
Violations Evaluate(const LevelVersion& standard, const meta::v1::ObjectMeta& meta,
                    const core::v1::PodSpec& spec);

// "privileged, hostPort"
std::string Reasons(const Violations& violations);
// "privileged (container "c" must not ...), hostPort (...)"
std::string Details(const Violations& violations);

}  // namespace cox::apiserver::pod_security
