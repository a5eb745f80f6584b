// SPDX-License-Identifier: Apache-2.0
#include "kubelet/configs/security.h"

#include <algorithm>

#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::Container;
using core::v1::Pod;
using core::v1::PodSecurityContext;
using core::v1::SecurityContext;

namespace {

// Upstream's default masked and read-only paths.
const char* const kMasked[] = {
    "/proc/asound",     "/proc/acpi",        "/proc/interrupts",
    "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
    "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
    "/proc/scsi",       "/sys/firmware",     "/sys/devices/virtual/powercap"};
const char* const kReadOnly[] = {"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                 "/proc/sysrq-trigger"};

// `field` is the name of the API field. Rejects a Localhost profile without a name.
Result<cri::v1::SecurityProfile> ToProfile(std::string_view field, const std::string& type,
                                           const std::optional<std::string>& localhost,
                                           const std::string& localhost_root) {
  using cri::v1::SecurityProfile;
  if (type == "RuntimeDefault") {
    return SecurityProfile{.profile_type = cri::v1::kProfileTypeRuntimeDefault};
  }
  if (type != "Localhost") {
    return SecurityProfile{.profile_type = cri::v1::kProfileTypeUnconfined};
  }
  if (localhost.value_or("").empty()) {
    return Status::BadRequest("localhostProfile must be set if " + std::string(field) +
                              " type is Localhost.");
  }
  return SecurityProfile{.profile_type = cri::v1::kProfileTypeLocalhost,
                         .localhost_ref = localhost_root + *localhost};
}

cri::v1::SELinuxOption ToSelinux(const core::v1::SELinuxOptions& options) {
  return {.user = options.user, .role = options.role, .type = options.type, .level = options.level};
}

List<int64_t> Groups(const PodSecurityContext& context) {
  List<int64_t> groups = context.supplementalGroups;
  if (context.fsGroup) groups.push_back(*context.fsGroup);
  return groups;
}

cri::v1::SupplementalGroupsPolicy GroupsPolicy(const PodSecurityContext& context) {
  return context.supplementalGroupsPolicy.value_or("Merge") == "Strict"
             ? cri::v1::kSupplementalGroupsPolicyStrict
             : cri::v1::kSupplementalGroupsPolicyMerge;
}

std::string Where(const Pod& pod, const Container& container) {
  return " (pod: \"" + pod.metadata.name + "_" + pod.metadata.namespace_ + "(" + pod.metadata.uid +
         ")\", container: " + container.name + ")";
}

Status CheckNonRoot(const Pod& pod, const Container& container, const SecurityContext& own,
                    const PodSecurityContext& common, const ImageUser& image) {
  const bool wanted = own.runAsNonRoot ? *own.runAsNonRoot : common.runAsNonRoot.value_or(false);
  if (!wanted) return {};
  const std::optional<int64_t> user = own.runAsUser ? own.runAsUser : common.runAsUser;
  if (user) {
    if (*user != 0) return {};
    return Status::BadRequest("container's runAsUser breaks non-root policy" +
                              Where(pod, container));
  }
  if (!image.name.empty()) {
    return Status::BadRequest("container has runAsNonRoot and image has non-numeric user (" +
                              image.name + "), cannot verify user is non-root" +
                              Where(pod, container));
  }
  if (image.uid.value_or(0) != 0) return {};
  return Status::BadRequest("container has runAsNonRoot and image will run as root" +
                            Where(pod, container));
}

void SetUser(const SecurityContext& own, const PodSecurityContext& common, const ImageUser& image,
             cri::v1::LinuxContainerSecurityContext& out) {
  if (const auto user = own.runAsUser ? own.runAsUser : common.runAsUser) {
    out.run_as_user = cri::v1::Int64Value{.value = *user};
  } else if (image.uid) {
    out.run_as_user = cri::v1::Int64Value{.value = *image.uid};
  } else if (!image.name.empty()) {
    out.run_as_username = image.name;
  } else {
    out.run_as_user = cri::v1::Int64Value{.value = 0};
  }
  if (const auto group = own.runAsGroup ? own.runAsGroup : common.runAsGroup) {
    out.run_as_group = cri::v1::Int64Value{.value = *group};
  }
}

Status SetProfiles(const SecurityContext& own, const PodSecurityContext& common,
                   const SeccompOptions& options, cri::v1::LinuxContainerSecurityContext& out) {
  if (own.seLinuxOptions) {
    out.selinux_options = ToSelinux(*own.seLinuxOptions);
  } else if (common.seLinuxOptions) {
    out.selinux_options = ToSelinux(*common.seLinuxOptions);
  }
  const auto& seccomp = own.seccompProfile ? own.seccompProfile : common.seccompProfile;
  out.seccomp = cri::v1::SecurityProfile{.profile_type = options.runtime_default
                                                             ? cri::v1::kProfileTypeRuntimeDefault
                                                             : cri::v1::kProfileTypeUnconfined};
  if (seccomp) {
    COX_ASSIGN_OR_RETURN(out.seccomp, ToProfile("seccompProfile", seccomp->type,
                                                seccomp->localhostProfile, options.root));
  }
  const auto& apparmor = own.appArmorProfile ? own.appArmorProfile : common.appArmorProfile;
  if (apparmor) {
    COX_ASSIGN_OR_RETURN(
        out.apparmor, ToProfile("appArmorProfile", apparmor->type, apparmor->localhostProfile, ""));
  }
  return {};
}

}  // namespace

cri::v1::NamespaceOption NamespacesOf(const Pod& pod) {
  cri::v1::NamespaceOption option;
  option.network = pod.spec.hostNetwork ? cri::v1::kNamespaceModeNode : cri::v1::kNamespaceModePod;
  option.ipc = pod.spec.hostIPC ? cri::v1::kNamespaceModeNode : cri::v1::kNamespaceModePod;
  option.pid = pod.spec.hostPID                                 ? cri::v1::kNamespaceModeNode
               : pod.spec.shareProcessNamespace.value_or(false) ? cri::v1::kNamespaceModePod
                                                                : cri::v1::kNamespaceModeContainer;
  return option;
}

cri::v1::LinuxSandboxSecurityContext SandboxSecurity(const Pod& pod) {
  cri::v1::LinuxSandboxSecurityContext out;
  out.namespace_options = NamespacesOf(pod);
  // The infra (pause) container needs no more than the runtime's default profile.
  out.seccomp = cri::v1::SecurityProfile{.profile_type = cri::v1::kProfileTypeRuntimeDefault};
  ForEachContainer(pod, [&out](const Container& container, ContainerKind) {
    out.privileged |=
        container.securityContext && container.securityContext->privileged.value_or(false);
  });
  if (!pod.spec.securityContext) return out;
  const PodSecurityContext& common = *pod.spec.securityContext;
  if (common.runAsUser) out.run_as_user = cri::v1::Int64Value{.value = *common.runAsUser};
  if (common.runAsGroup) out.run_as_group = cri::v1::Int64Value{.value = *common.runAsGroup};
  out.supplemental_groups = Groups(common);
  out.supplemental_groups_policy = GroupsPolicy(common);
  if (common.seLinuxOptions) out.selinux_options = ToSelinux(*common.seLinuxOptions);
  return out;
}

Result<cri::v1::LinuxContainerSecurityContext> ContainerSecurity(const Pod& pod,
                                                                 const Container& container,
                                                                 const ImageUser& image,
                                                                 const std::string& target_id,
                                                                 const SeccompOptions& seccomp) {
  const SecurityContext own =
      container.securityContext ? *container.securityContext : SecurityContext{};
  const PodSecurityContext common =
      pod.spec.securityContext ? *pod.spec.securityContext : PodSecurityContext{};
  COX_RETURN_IF_ERROR(CheckNonRoot(pod, container, own, common, image));
  cri::v1::LinuxContainerSecurityContext out;
  cri::v1::NamespaceOption namespaces = NamespacesOf(pod);
  if (!target_id.empty()) {
    namespaces.pid = cri::v1::kNamespaceModeTarget;
    namespaces.target_id = target_id;
  }
  out.namespace_options = std::move(namespaces);
  if (own.capabilities) {
    out.capabilities = cri::v1::Capability{.add_capabilities = own.capabilities->add,
                                           .drop_capabilities = own.capabilities->drop};
  }
  out.privileged = own.privileged.value_or(false);
  out.readonly_rootfs = own.readOnlyRootFilesystem.value_or(false);
  out.no_new_privs = !own.allowPrivilegeEscalation.value_or(true);
  SetUser(own, common, image, out);
  COX_RETURN_IF_ERROR(SetProfiles(own, common, seccomp, out));
  out.supplemental_groups = Groups(common);
  out.supplemental_groups_policy = GroupsPolicy(common);
  if (own.procMount.value_or("Default") != "Unmasked") {
    out.masked_paths.assign(std::begin(kMasked), std::end(kMasked));
    out.readonly_paths.assign(std::begin(kReadOnly), std::end(kReadOnly));
  }
  return out;
}

}  // namespace cox::kubelet
