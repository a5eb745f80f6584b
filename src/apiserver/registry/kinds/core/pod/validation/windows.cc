// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"

// Validation of spec.os and of the Windows options.
namespace cox::apiserver::pod {
namespace {

using core::v1::SecurityContext;
using core::v1::WindowsSecurityContextOptions;

constexpr size_t kMaxCredentialSpec = 64 * 1024;
constexpr size_t kMaxDomain = 256;
constexpr size_t kMaxUser = 104;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// A NetBIOS name: up to 15 characters without \ / : * ? < > | and not beginning with a dot.
bool IsNetBiosDomain(std::string_view domain) {
  constexpr size_t kMax = 15;
  return domain.size() <= kMax && !domain.starts_with('.') &&
         domain.find_first_of("\\/:*?<>|") == std::string_view::npos;
}

FieldErrorList CheckDomain(std::string_view domain, std::string_view name, const FieldPath& path) {
  if (domain.size() >= kMaxDomain) {
    return {FieldError::Invalid(path, name,
                                "runAsUserName's Domain length must be under 256 characters")};
  }
  std::string lower(domain);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!domain.empty() &&
      (IsNetBiosDomain(domain) || validation::IsDNS1123Subdomain(lower).empty())) {
    return {};
  }
  return {FieldError::Invalid(
      path, name, "runAsUserName's Domain doesn't match the NetBios nor the DNS format")};
}

FieldErrorList CheckUser(std::string_view user, std::string_view name, const FieldPath& path) {
  constexpr std::string_view kForbidden = "\"/\\:;|=,+*?<>@[]";
  auto invalid = [&](std::string text) -> FieldErrorList {
    return {FieldError::Invalid(path, name, std::move(text))};
  };
  if (user.empty()) return invalid("runAsUserName's User cannot be empty");
  if (user.size() > kMaxUser)
    return invalid("runAsUserName's User length must not be longer than 104 characters");
  if (user.find_first_not_of(". ") == std::string_view::npos)
    return invalid("runAsUserName's User cannot contain only periods or spaces");
  if (user.find_first_of(kForbidden) != std::string_view::npos) {
    return invalid("runAsUserName's User cannot contain the following characters: " +
                   std::string(kForbidden));
  }
  return {};
}

FieldErrorList CheckRunAsUserName(std::string_view name, const FieldPath& path) {
  if (name.empty())
    return {FieldError::Invalid(path, name, "runAsUserName cannot be an empty string")};
  if (std::any_of(name.begin(), name.end(), IsControl))
    return {FieldError::Invalid(path, name, "runAsUserName cannot contain control characters")};
  CutResult parts = Cut(name, '\\');
  if (parts.after.find('\\') != std::string_view::npos)
    return {
        FieldError::Invalid(path, name, "runAsUserName cannot contain more than one backslash")};
  if (!parts.found) return CheckUser(name, name, path);
  FieldErrorList errors = CheckDomain(parts.before, name, path);
  Append(errors, CheckUser(parts.after, name, path));
  return errors;
}

std::optional<bool> HostProcessOf(const WindowsSecurityContextOptions* options) {
  return options == nullptr ? std::nullopt : options->hostProcess;
}

// Calls `visit` with the security context of each container and its path.
template <class Visit>
void VisitSecurityContexts(const PodSpec& spec, const FieldPath& path, Visit visit) {
  auto all = [&](const auto& containers, std::string_view name, auto context_of) {
    for (size_t i = 0; i < containers.size(); ++i) {
      if (const SecurityContext* context = context_of(containers[i]))
        visit(*context, path.Child(name).Index(i).Child("securityContext"));
    }
  };
  auto plain = [](const Container& c) { return c.securityContext.get(); };
  all(spec.initContainers, "initContainers", plain);
  all(spec.containers, "containers", plain);
  all(spec.ephemeralContainers, "ephemeralContainers",
      [](const EphemeralContainer& c) { return c.ephemeralContainerCommon.securityContext.get(); });
}

// Reports forbidden members that are set, with the same text.
class Forbidder {
 public:
  Forbidder(FieldErrorList& errors, const char* why) : errors_(errors), why_(why) {}
  void operator()(bool set, const FieldPath& path) {
    if (set) errors_.push_back(FieldError::Forbidden(path, why_));
  }

 private:
  FieldErrorList& errors_;
  const char* why_;
};

FieldErrorList CheckLinux(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  Forbidder forbid(errors, "windows options cannot be set for a linux pod");
  if (spec.securityContext) {
    forbid(spec.securityContext->windowsOptions.has_value(),
           path.Child("securityContext").Child("windowsOptions"));
  }
  VisitSecurityContexts(spec, path, [&](const SecurityContext& context, const FieldPath& at) {
    forbid(context.windowsOptions.has_value(), at.Child("windowsOptions"));
  });
  return errors;
}

FieldErrorList CheckWindowsPod(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  Forbidder forbid(errors, "cannot be set for a windows pod");
  const FieldPath at = path.Child("securityContext");
  if (spec.securityContext) {
    const core::v1::PodSecurityContext& context = *spec.securityContext;
    forbid(context.appArmorProfile.has_value(), at.Child("appArmorProfile"));
    forbid(context.seLinuxOptions.has_value(), at.Child("seLinuxOptions"));
    forbid(spec.hostUsers.has_value(), at.Child("hostUsers"));
    forbid(spec.hostPID, at.Child("hostPID"));
    forbid(spec.hostIPC, at.Child("hostIPC"));
    forbid(context.seccompProfile.has_value(), at.Child("seccompProfile"));
    forbid(context.fsGroup.has_value(), at.Child("fsGroup"));
    forbid(context.fsGroupChangePolicy.has_value(), at.Child("fsGroupChangePolicy"));
    forbid(!context.sysctls.empty(), at.Child("sysctls"));
    forbid(spec.shareProcessNamespace.has_value(), at.Child("shareProcessNamespace"));
    forbid(context.runAsUser.has_value(), at.Child("runAsUser"));
    forbid(context.runAsGroup.has_value(), at.Child("runAsGroup"));
    forbid(!context.supplementalGroups.empty(), at.Child("supplementalGroups"));
    forbid(context.supplementalGroupsPolicy.has_value(), at.Child("supplementalGroupsPolicy"));
  }
  VisitSecurityContexts(spec, path, [&](const SecurityContext& context, const FieldPath& in) {
    forbid(context.appArmorProfile.has_value(), in.Child("appArmorProfile"));
    forbid(context.seLinuxOptions.has_value(), in.Child("seLinuxOptions"));
    forbid(context.seccompProfile.has_value(), in.Child("seccompProfile"));
    forbid(context.capabilities.has_value(), in.Child("capabilities"));
    forbid(context.readOnlyRootFilesystem.has_value(), in.Child("readOnlyRootFilesystem"));
    forbid(context.privileged.has_value(), in.Child("privileged"));
    forbid(context.allowPrivilegeEscalation.has_value(), in.Child("allowPrivilegeEscalation"));
    forbid(context.procMount.has_value(), in.Child("procMount"));
    forbid(context.runAsUser.has_value(), in.Child("runAsUser"));
    forbid(context.runAsGroup.has_value(), in.Child("runAsGroup"));
  });
  return errors;
}

}  // namespace

FieldErrorList CheckWindowsOptions(const WindowsSecurityContextOptions* options,
                                   const FieldPath& path) {
  FieldErrorList errors;
  if (options == nullptr) return errors;
  if (options->gmsaCredentialSpecName) {
    Append(errors, CheckDnsSubdomain(*options->gmsaCredentialSpecName,
                                     path.Child("gmsaCredentialSpecName")));
  }
  if (options->gmsaCredentialSpec) {
    const FieldPath at = path.Child("gmsaCredentialSpec");
    const std::string& spec = *options->gmsaCredentialSpec;
    if (spec.empty()) {
      errors.push_back(
          FieldError::Invalid(at, spec, "gmsaCredentialSpec cannot be an empty string"));
    } else if (spec.size() > kMaxCredentialSpec) {
      errors.push_back(
          FieldError::Invalid(at, spec, "gmsaCredentialSpec size must be under 64 KiB"));
    }
  }
  if (options->runAsUserName)
    Append(errors, CheckRunAsUserName(*options->runAsUserName, path.Child("runAsUserName")));
  return errors;
}

FieldErrorList CheckHostProcess(const PodSpec& spec, const FieldPath& path) {
  FieldErrorList errors;
  const std::optional<bool> of_pod = spec.securityContext
                                         ? HostProcessOf(spec.securityContext->windowsOptions.get())
                                         : std::nullopt;
  size_t containers = 0, host_processes = 0;
  auto visit = [&](const Container& container, const FieldPath& at) {
    ++containers;
    std::optional<bool> own = container.securityContext
                                  ? HostProcessOf(container.securityContext->windowsOptions.get())
                                  : std::nullopt;
    if (own && of_pod && *own != *of_pod) {
      errors.push_back(FieldError::Invalid(
          at.Child("securityContext").Child("windowsOptions").Child("hostProcess"), *own,
          std::string("pod hostProcess value must be identical if both are specified, was ") +
              (*of_pod ? "true" : "false")));
    }
    if (own ? *own : of_pod.value_or(false)) ++host_processes;
  };
  for (size_t i = 0; i < spec.containers.size(); ++i)
    visit(spec.containers[i], path.Child("containers").Index(i));
  for (size_t i = 0; i < spec.initContainers.size(); ++i)
    visit(spec.initContainers[i], path.Child("initContainers").Index(i));
  if (host_processes == 0) return errors;
  if (host_processes != containers) {
    errors.push_back(FieldError::Invalid(
        path, "",
        "If pod contains any hostProcess containers then all containers must be HostProcess "
        "containers"));
  }
  if (!spec.hostNetwork) {
    errors.push_back(
        FieldError::Invalid(path.Child("hostNetwork"), false,
                            "hostNetwork must be true if pod contains any hostProcess containers"));
  }
  return errors;
}

FieldErrorList CheckOS(const PodSpec& spec, const FieldPath& path) {
  if (!spec.os) return {};
  if (spec.os->name.empty()) return {FieldError::Required(path.Child("os").Child("name"))};
  if (spec.os->name == "linux") return CheckLinux(spec, path);
  if (spec.os->name == "windows") return CheckWindowsPod(spec, path);
  return {FieldError::NotSupported(path.Child("os"), spec.os->name, {"linux", "windows"})};
}

}  // namespace cox::apiserver::pod
