// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "apiserver/registry/validation/internal_value.h"
#include "base/strings.h"
#include "object/validation/sysctl.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::AppArmorProfile;
using core::v1::PodSecurityContext;
using core::v1::SeccompProfile;
using core::v1::SecurityContext;

constexpr size_t kMaxPathBytes = 4095;  // PATH_MAX without the terminating zero

FieldErrorList CheckId(const std::optional<int64_t>& id, validation::Messages (*rule)(int64_t),
                       const FieldPath& path) {
  FieldErrorList errors;
  if (!id) return errors;
  for (std::string& message : rule(*id))
    errors.push_back(FieldError::Invalid(path, *id, std::move(message)));
  return errors;
}

FieldErrorList CheckOptionalEnum(const std::optional<std::string>& value, const FieldPath& path,
                                 std::initializer_list<std::string_view> supported) {
  if (!value) return {};
  for (std::string_view one : supported)
    if (*value == one) return {};
  return {FieldError::NotSupported(path, *value, supported)};
}

FieldErrorList CheckSeccomp(const SeccompProfile* profile, const FieldPath& path) {
  if (profile == nullptr) return {};
  FieldErrorList errors;
  if (profile->type.empty()) {
    errors.push_back(
        FieldError::Required(path.Child("type"), "type is required when seccompProfile is set"));
  } else {
    Append(errors, CheckEnum(profile->type, path.Child("type"),
                             {"Localhost", "RuntimeDefault", "Unconfined"}));
  }
  const FieldPath local = path.Child("localhostProfile");
  if (profile->type != "Localhost") {
    if (profile->localhostProfile) {
      errors.push_back(FieldError::Invalid(local, InternalValue(*profile),
                                           "can only be set when seccomp type is Localhost"));
    }
  } else if (!profile->localhostProfile) {
    errors.push_back(FieldError::Required(local, "must be set when seccomp type is Localhost"));
  } else {
    Append(errors, CheckLocalDescendingPath(*profile->localhostProfile, local));
  }
  return errors;
}

FieldErrorList CheckLocalAppArmor(const std::optional<std::string>& profile,
                                  const FieldPath& path) {
  constexpr const char* kNeeded = "must be set when AppArmor type is Localhost";
  if (!profile) return {FieldError::Required(path, kNeeded)};
  FieldErrorList errors;
  if (TrimSpace(*profile).size() != profile->size()) {
    errors.push_back(FieldError::Invalid(path, *profile, "must not be padded with whitespace"));
  } else if (profile->empty()) {
    errors.push_back(FieldError::Required(path, kNeeded));
  }
  if (profile->size() > kMaxPathBytes) errors.push_back(FieldError::TooLong(path, kMaxPathBytes));
  return errors;
}

FieldErrorList CheckAppArmor(const AppArmorProfile* profile, const FieldPath& path) {
  if (profile == nullptr) return {};
  const FieldPath local = path.Child("localhostProfile");
  std::string_view type = profile->type;
  if (type == "Localhost") return CheckLocalAppArmor(profile->localhostProfile, local);
  if (type == "RuntimeDefault" || type == "Unconfined") {
    if (!profile->localhostProfile) return {};
    return {FieldError::Invalid(local, *profile->localhostProfile,
                                "can only be set when AppArmor type is Localhost")};
  }
  if (type.empty()) {
    return {
        FieldError::Required(path.Child("type"), "type is required when appArmorProfile is set")};
  }
  return {FieldError::NotSupported(path.Child("type"), type,
                                   {"Localhost", "RuntimeDefault", "Unconfined"})};
}

// The field that makes the Pod share the namespace of a sysctl with the host. Empty if none does.
std::string_view HostNamespaceOf(std::string_view name, const PodSpec& spec) {
  switch (validation::NamespaceOfSysctl(validation::DottedSysctl(name))) {
    case validation::SysctlNamespace::kNet:
      return spec.hostNetwork ? "hostNetwork" : "";
    case validation::SysctlNamespace::kIpc:
      return spec.hostIPC ? "hostIPC" : "";
    case validation::SysctlNamespace::kNone:
      break;
  }
  return {};
}

FieldErrorList CheckSysctls(const PodSpec& spec, const FieldPath& path,
                            const PodValidationOptions& options) {
  FieldErrorList errors;
  std::set<std::string> names;
  for (size_t i = 0; i < spec.securityContext->sysctls.size(); ++i) {
    const std::string& name = spec.securityContext->sysctls[i].name;
    const FieldPath at = path.Index(i).Child("name");
    if (name.empty()) {
      errors.push_back(FieldError::Required(at));
    } else if (!validation::IsSysctlName(name)) {
      errors.push_back(FieldError::Invalid(
          at, name,
          "must have at most 253 characters and match regex "
          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"));
    } else if (!names.insert(name).second) {
      errors.push_back(FieldError::Duplicate(at, name));
    }
    if (options.allow_namespaced_sysctls_for_host) continue;
    if (std::string_view host = HostNamespaceOf(name, spec); !host.empty()) {
      errors.push_back(FieldError::Invalid(
          at, name, "may not be specified when '" + std::string(host) + "' is true"));
    }
  }
  return errors;
}

// A pod with its own user namespace cannot use namespaces of the host.
FieldErrorList CheckHostUsers(const PodSpec& spec, const FieldPath& path) {
  if (spec.hostUsers.value_or(true)) return {};
  FieldErrorList errors;
  auto forbid = [&](bool set, std::string_view name) {
    if (set) errors.push_back(FieldError::Forbidden(path.Child(name), "when `hostUsers` is false"));
  };
  forbid(spec.hostNetwork, "hostNetwork");
  forbid(spec.hostPID, "hostPID");
  forbid(spec.hostIPC, "hostIPC");
  return errors;
}

}  // namespace

FieldErrorList CheckPodSecurityContext(const PodSpec& spec, const FieldPath& path,
                                       const PodValidationOptions& options) {
  FieldErrorList errors = CheckHostUsers(spec, path);
  const FieldPath at = path.Child("securityContext");
  if (spec.hostPID && spec.shareProcessNamespace.value_or(false)) {
    errors.push_back(
        FieldError::Invalid(at.Child("shareProcessNamespace"), true,
                            "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  if (!spec.securityContext) return errors;
  const PodSecurityContext& context = *spec.securityContext;
  Append(errors, CheckId(context.fsGroup, validation::IsValidGroupID, at.Child("fsGroup")));
  Append(errors, CheckId(context.runAsUser, validation::IsValidUserID, at.Child("runAsUser")));
  Append(errors, CheckId(context.runAsGroup, validation::IsValidGroupID, at.Child("runAsGroup")));
  for (size_t i = 0; i < context.supplementalGroups.size(); ++i) {
    Append(errors, CheckId(context.supplementalGroups[i], validation::IsValidGroupID,
                           at.Child("supplementalGroups").Index(i)));
  }
  Append(errors, CheckSysctls(spec, at.Child("sysctls"), options));
  Append(errors, CheckOptionalEnum(context.fsGroupChangePolicy, at.Child("fsGroupChangePolicy"),
                                   {"Always", "OnRootMismatch"}));
  Append(errors, CheckSeccomp(context.seccompProfile.get(), at.Child("seccompProfile")));
  Append(errors, CheckOptionalEnum(context.supplementalGroupsPolicy,
                                   at.Child("supplementalGroupsPolicy"), {"Merge", "Strict"}));
  Append(errors, CheckOptionalEnum(context.seLinuxChangePolicy, at.Child("seLinuxChangePolicy"),
                                   {"MountOption", "Recursive"}));
  Append(errors, CheckWindowsOptions(context.windowsOptions.get(), at.Child("windowsOptions")));
  Append(errors, CheckAppArmor(context.appArmorProfile.get(), at.Child("appArmorProfile")));
  return errors;
}

FieldErrorList CheckSecurityContext(const SecurityContext* context, bool host_users,
                                    const FieldPath& path) {
  if (context == nullptr) return {};
  FieldErrorList errors =
      CheckId(context->runAsUser, validation::IsValidUserID, path.Child("runAsUser"));
  Append(errors,
         CheckId(context->runAsGroup, validation::IsValidGroupID, path.Child("runAsGroup")));
  const FieldPath proc = path.Child("procMount");
  Append(errors, CheckOptionalEnum(context->procMount, proc, {"Default", "Unmasked"}));
  if (context->procMount == "Unmasked" && host_users) {
    errors.push_back(FieldError::Invalid(proc, *context->procMount,
                                         "`hostUsers` must be false to use `Unmasked`"));
  }
  Append(errors, CheckSeccomp(context->seccompProfile.get(), path.Child("seccompProfile")));
  if (!context->allowPrivilegeEscalation.value_or(true)) {
    if (context->privileged.value_or(false)) {
      errors.push_back(FieldError::Invalid(
          path, InternalValue(*context),
          "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
    }
    if (context->capabilities) {
      for (const std::string& capability : context->capabilities->add) {
        if (capability != "CAP_SYS_ADMIN") continue;
        errors.push_back(FieldError::Invalid(
            path, InternalValue(*context),
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
      }
    }
  }
  Append(errors, CheckWindowsOptions(context->windowsOptions.get(), path.Child("windowsOptions")));
  Append(errors, CheckAppArmor(context->appArmorProfile.get(), path.Child("appArmorProfile")));
  return errors;
}

}  // namespace cox::apiserver::pod
