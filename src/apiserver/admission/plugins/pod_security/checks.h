// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/plugins/pod_security/standards.h"

// The controls of the Pod Security Standards, one function each, and their input. A control that
// has changed has one function per form, whose suffix is the first release of that form.
namespace cox::apiserver::pod_security {

// The fields of a container that the standards check, for all types of containers.
struct ContainerView {
  const std::string& name;
  const core::v1::SecurityContext* security;  // may be null
  const List<core::v1::ContainerPort>& ports;
  const core::v1::Probe* probes[3];  // liveness, readiness, startup; may be null
  const core::v1::Lifecycle* lifecycle;
};

// A Pod or a Pod template. Borrows both parts.
struct PodView {
  PodView(const meta::v1::ObjectMeta& meta_in, const core::v1::PodSpec& spec_in);

  const meta::v1::ObjectMeta& meta;
  const core::v1::PodSpec& spec;
  const core::v1::PodSecurityContext* security;  // may be null
  std::vector<ContainerView> containers;         // init, ordinary, ephemeral

  bool on_windows() const { return spec.os && spec.os->name == core::v1::kWindows; }
  // Root in the user namespace is an unprivileged user on the host.
  bool in_user_namespace() const { return spec.hostUsers && !*spec.hostUsers; }
};

using Finding = std::optional<Violation>;  // none: the Pod meets the control
using Check = Finding (*)(const PodView&);

// Helpers for the texts of findings.
using Names = std::vector<std::string_view>;
using Values = std::set<std::string, std::less<>>;
// "container "a"", "containers "a", "b"". Like upstream, names are not escaped.
std::string ContainersText(const Names& names);
std::string Quoted(const Names& names);
std::string Quoted(const Values& values);
inline std::string_view Plural(size_t n, std::string_view one, std::string_view many) {
  return n == 1 ? one : many;
}
// "pod and containers "a", "b"": the parts that set a forbidden value.
std::string Setters(bool pod, const Names& containers);

// baseline_checks.cc
Finding AppArmorProfile(const PodView& pod);
Finding CapabilitiesBaseline(const PodView& pod);
Finding HostNamespaces(const PodView& pod);
Finding HostPathVolumes(const PodView& pod);
Finding HostPorts(const PodView& pod);
Finding HostProbesAndHostLifecycle(const PodView& pod);
Finding Privileged(const PodView& pod);
Finding ProcMount_1_0(const PodView& pod);
Finding ProcMount_1_35(const PodView& pod);
Finding SeLinuxOptions_1_0(const PodView& pod);
Finding SeLinuxOptions_1_31(const PodView& pod);
Finding Sysctls_1_0(const PodView& pod);
Finding Sysctls_1_27(const PodView& pod);
Finding Sysctls_1_29(const PodView& pod);
Finding Sysctls_1_32(const PodView& pod);
Finding WindowsHostProcess(const PodView& pod);

// seccomp_checks.cc
Finding SeccompBaseline_1_0(const PodView& pod);
Finding SeccompBaseline_1_19(const PodView& pod);
Finding SeccompRestricted_1_19(const PodView& pod);
Finding SeccompRestricted_1_25(const PodView& pod);

// restricted_checks.cc
Finding AllowPrivilegeEscalation_1_8(const PodView& pod);
Finding AllowPrivilegeEscalation_1_25(const PodView& pod);
Finding CapabilitiesRestricted_1_22(const PodView& pod);
Finding CapabilitiesRestricted_1_25(const PodView& pod);
Finding RestrictedVolumes(const PodView& pod);
Finding RunAsNonRoot_1_0(const PodView& pod);
Finding RunAsNonRoot_1_35(const PodView& pod);
Finding RunAsUser_1_23(const PodView& pod);
Finding RunAsUser_1_35(const PodView& pod);

}  // namespace cox::apiserver::pod_security
