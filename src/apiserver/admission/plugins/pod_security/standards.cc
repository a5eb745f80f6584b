// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/pod_security/standards.h"

#include <algorithm>
#include <array>
#include <span>

#include "apiserver/admission/plugins/pod_security/checks.h"
#include "base/strings.h"

namespace cox::apiserver::pod_security {
namespace {

struct Form {
  int since;  // v1.<since>
  Check check;
};

// A control with its forms, oldest first. It does not apply to releases before its first form.
struct Control {
  std::array<Form, 4> forms;  // forms without a check are unused
  // For a restricted control: the index in kBaseline of the control that it includes. That control
  // is skipped to avoid duplicate violations.
  int covers = -1;

  Check At(int minor) const {
    Check found = nullptr;
    for (const Form& form : forms) {
      if (form.check != nullptr && form.since <= minor) found = form.check;
    }
    return found;
  }
};

// The indexes of the controls that a restricted control covers.
enum Baseline : int { kCapabilities = 1, kHostPath = 3, kProcMount = 7, kSeccomp = 9 };

constexpr Control kBaseline[] = {
    {{{{0, AppArmorProfile}}}},
    {{{{0, CapabilitiesBaseline}}}},
    {{{{0, HostNamespaces}}}},
    {{{{0, HostPathVolumes}}}},
    {{{{0, HostPorts}}}},
    {{{{34, HostProbesAndHostLifecycle}}}},
    {{{{0, Privileged}}}},
    {{{{0, ProcMount_1_0}, {35, ProcMount_1_35}}}},
    {{{{0, SeLinuxOptions_1_0}, {31, SeLinuxOptions_1_31}}}},
    {{{{0, SeccompBaseline_1_0}, {19, SeccompBaseline_1_19}}}},
    {{{{0, Sysctls_1_0}, {27, Sysctls_1_27}, {29, Sysctls_1_29}, {32, Sysctls_1_32}}}},
    {{{{0, WindowsHostProcess}}}},
};

constexpr Control kRestricted[] = {
    {{{{8, AllowPrivilegeEscalation_1_8}, {25, AllowPrivilegeEscalation_1_25}}}},
    {{{{22, CapabilitiesRestricted_1_22}, {25, CapabilitiesRestricted_1_25}}}, kCapabilities},
    // Restricted forbids an unmasked /proc even in a user namespace.
    {{{{35, ProcMount_1_0}}}, kProcMount},
    {{{{0, RestrictedVolumes}}}, kHostPath},
    {{{{0, RunAsNonRoot_1_0}, {35, RunAsNonRoot_1_35}}}},
    {{{{23, RunAsUser_1_23}, {35, RunAsUser_1_35}}}},
    {{{{19, SeccompRestricted_1_19}, {25, SeccompRestricted_1_25}}}, kSeccomp},
};

bool Covered(int place, int minor) {
  return std::any_of(std::begin(kRestricted), std::end(kRestricted), [&](const Control& control) {
    return control.covers == place && control.At(minor) != nullptr;
  });
}

void Run(Check check, const PodView& pod, Violations& out) {
  if (check == nullptr) return;
  if (Finding finding = check(pod)) out.push_back(std::move(*finding));
}

template <class Container>
ContainerView ViewOf(const Container& container) {
  return {
      container.name,
      container.securityContext.get(),
      container.ports,
      {container.livenessProbe.get(), container.readinessProbe.get(), container.startupProbe.get()},
      container.lifecycle.get()};
}

}  // namespace

PodView::PodView(const meta::v1::ObjectMeta& meta_in, const core::v1::PodSpec& spec_in)
    : meta(meta_in), spec(spec_in), security(spec_in.securityContext.get()) {
  containers.reserve(spec.initContainers.size() + spec.containers.size() +
                     spec.ephemeralContainers.size());
  for (const auto& container : spec.initContainers) containers.push_back(ViewOf(container));
  for (const auto& container : spec.containers) containers.push_back(ViewOf(container));
  for (const auto& container : spec.ephemeralContainers) {
    containers.push_back(ViewOf(container.ephemeralContainerCommon));
  }
}

Violations Evaluate(const LevelVersion& standard, const meta::v1::ObjectMeta& meta,
                    const core::v1::PodSpec& spec) {
  Violations out;
  if (standard.level == Level::kPrivileged) return out;
  const PodView pod(meta, spec);
  const int minor = standard.version.minor;
  const bool restricted = standard.level == Level::kRestricted;
  for (size_t i = 0; i < std::size(kBaseline); ++i) {
    if (restricted && Covered(static_cast<int>(i), minor)) continue;
    Run(kBaseline[i].At(minor), pod, out);
  }
  if (restricted) {
    for (const Control& control : kRestricted) Run(control.At(minor), pod, out);
  }
  return out;
}

std::string Reasons(const Violations& violations) {
  std::vector<std::string_view> reasons;
  for (const Violation& violation : violations) reasons.push_back(violation.reason);
  return Join(reasons, ", ");
}

std::string Details(const Violations& violations) {
  std::vector<std::string> texts;
  for (const Violation& violation : violations) {
    texts.push_back(violation.detail.empty() ? violation.reason
                                             : violation.reason + " (" + violation.detail + ")");
  }
  return Join(texts, ", ");
}

std::string Quoted(const Names& names) { return "\"" + Join(names, "\", \"") + "\""; }
std::string Quoted(const Values& values) { return "\"" + Join(values, "\", \"") + "\""; }

std::string ContainersText(const Names& names) {
  return std::string(Plural(names.size(), "container ", "containers ")) + Quoted(names);
}

std::string Setters(bool pod, const Names& containers) {
  std::vector<std::string> setters;
  if (pod) setters.push_back("pod");
  if (!containers.empty()) setters.push_back(ContainersText(containers));
  return Join(setters, " and ");
}

}  // namespace cox::apiserver::pod_security
