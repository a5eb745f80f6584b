// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"
#include "object/core/containers.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::ContainerPort;
using core::v1::ContainerRestartRule;

constexpr size_t kMaxRestartRules = 20;
constexpr size_t kMaxExitCodes = 255;

FieldErrorList CheckPortNumber(int32_t port, const FieldPath& path) {
  FieldErrorList errors;
  for (std::string& message : validation::IsValidPortNum(port))
    errors.push_back(FieldError::Invalid(path, port, std::move(message)));
  return errors;
}

FieldErrorList CheckPorts(const List<ContainerPort>& ports, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const ContainerPort& port = ports[i];
    const FieldPath at = path.Index(i);
    if (!port.name.empty()) {
      validation::Messages messages = validation::IsValidPortName(port.name);
      if (!messages.empty()) {
        AddInvalid(errors, at.Child("name"), port.name, std::move(messages));
      } else if (!names.insert(port.name).second) {
        errors.push_back(FieldError::Duplicate(at.Child("name"), port.name));
      }
    }
    if (port.containerPort == 0) {
      errors.push_back(FieldError::Required(at.Child("containerPort")));
    } else {
      Append(errors, CheckPortNumber(port.containerPort, at.Child("containerPort")));
    }
    if (port.hostPort != 0) Append(errors, CheckPortNumber(port.hostPort, at.Child("hostPort")));
    Append(errors, CheckEnum(port.protocol, at.Child("protocol"), {"SCTP", "TCP", "UDP"}));
  }
  return errors;
}

// Containers of a pod cannot use the same host port. Adds the ports to `taken`.
FieldErrorList CheckHostPorts(const List<ContainerPort>& ports, const FieldPath& path,
                              std::set<std::string>& taken) {
  FieldErrorList errors;
  for (size_t i = 0; i < ports.size(); ++i) {
    const ContainerPort& port = ports[i];
    if (port.hostPort == 0) continue;
    std::string key = port.protocol + "/" + port.hostIP + "/" + std::to_string(port.hostPort);
    if (taken.contains(key)) {
      errors.push_back(FieldError::Duplicate(path.Index(i).Child("hostPort"), key));
    } else {
      taken.insert(std::move(key));
    }
  }
  return errors;
}

FieldErrorList CheckExitCodes(const ContainerRestartRule& rule, const FieldPath& path) {
  if (!rule.exitCodes) return {FieldError::Required(path, "must be specified")};
  FieldErrorList errors;
  std::string_view op = rule.exitCodes->operator_;
  if (op != "In" && op != "NotIn")
    errors.push_back(FieldError::NotSupported(path.Child("operator"), op, {"In", "NotIn"}));
  size_t count = rule.exitCodes->values.size();
  if (count == 0) {
    errors.push_back(FieldError::Required(path.Child("values"), "must specify at least one value"));
  } else if (count > kMaxExitCodes) {
    errors.push_back(FieldError::TooMany(path.Child("values"), static_cast<int64_t>(count),
                                         static_cast<int64_t>(kMaxExitCodes)));
  }
  std::set<int32_t> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!seen.insert(rule.exitCodes->values[i]).second) {
      errors.push_back(
          FieldError::Duplicate(path.Child("values").Index(i), rule.exitCodes->values[i]));
    }
  }
  return errors;
}

FieldErrorList CheckRestartPolicy(const Container& container, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath policy_path = path.Child("restartPolicy");
  if (container.restartPolicy) {
    std::string_view policy = *container.restartPolicy;
    if (policy != "Always" && policy != "Never" && policy != "OnFailure") {
      errors.push_back(
          FieldError::NotSupported(policy_path, policy, {"Always", "Never", "OnFailure"}));
    }
  }
  if (container.restartPolicyRules.empty()) return errors;
  const FieldPath rules = path.Child("restartPolicyRules");
  if (!container.restartPolicy) {
    errors.push_back(FieldError::Required(
        policy_path, "must specify restartPolicy when restart rules are used"));
  }
  if (container.restartPolicyRules.size() > kMaxRestartRules) {
    errors.push_back(FieldError::TooMany(
        rules, static_cast<int64_t>(container.restartPolicyRules.size()), kMaxRestartRules));
  }
  for (size_t i = 0; i < container.restartPolicyRules.size(); ++i) {
    const ContainerRestartRule& rule = container.restartPolicyRules[i];
    if (rule.action != "Restart") {
      errors.push_back(
          FieldError::NotSupported(rules.Index(i).Child("action"), rule.action, {"Restart"}));
    }
    Append(errors, CheckExitCodes(rule, rules.Index(i).Child("exitCodes")));
  }
  return errors;
}

// Rules for all three kinds of containers.
FieldErrorList CheckCommon(const Container& container, const PodView& view, const FieldPath& path) {
  FieldErrorList errors;
  if (container.name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  } else {
    Append(errors, CheckDnsLabel(container.name, path.Child("name")));
  }
  CheckRequired(errors, container.image, path.Child("image"));
  Append(errors,
         CheckEnum(container.terminationMessagePolicy, path.Child("terminationMessagePolicy"),
                   {"File", "FallbackToLogsOnError"}));
  Append(errors, CheckPorts(container.ports, path.Child("ports")));
  Append(errors, CheckEnv(container.env, path.Child("env")));
  Append(errors, CheckEnvFrom(container.envFrom, path.Child("envFrom")));
  Append(errors, CheckEnvFileVolumes(container.env, view.volumes, path.Child("env")));
  Append(errors, CheckVolumeMounts(container, view.volumes, path.Child("volumeMounts")));
  Append(errors, CheckVolumeDevices(container, view.volumes, path.Child("volumeDevices")));
  Append(errors, CheckPullPolicy(container.imagePullPolicy, path.Child("imagePullPolicy")));
  Append(errors, ValidateResourceRequirements(container.resources, &view.claims,
                                              path.Child("resources"), view.options));
  Append(errors, CheckResizePolicy(container.resizePolicy, view.restart_policy,
                                   path.Child("resizePolicy")));
  Append(errors, CheckSecurityContext(container.securityContext.get(), view.host_users,
                                      path.Child("securityContext")));
  return errors;
}

// Rules for fields of long-running containers: lifecycle and probes.
FieldErrorList CheckRunning(const Container& container, const PodView& view,
                            const FieldPath& path) {
  FieldErrorList errors = CheckLifecycle(container.lifecycle.get(), view, path.Child("lifecycle"));
  Append(errors,
         CheckLivenessProbe(container.livenessProbe.get(), view, path.Child("livenessProbe")));
  Append(errors,
         CheckReadinessProbe(container.readinessProbe.get(), view, path.Child("readinessProbe")));
  Append(errors, CheckStartupProbe(container.startupProbe.get(), view, path.Child("startupProbe")));
  return errors;
}

// An init container runs to completion: it has no probes and no lifecycle hooks.
FieldErrorList CheckNotRunning(const Container& container, const FieldPath& path) {
  constexpr const char* kWhy = "may not be set for init containers without restartPolicy=Always";
  FieldErrorList errors;
  auto forbid = [&](bool set, std::string_view name) {
    if (set) errors.push_back(FieldError::Forbidden(path.Child(name), kWhy));
  };
  forbid(container.lifecycle.has_value(), "lifecycle");
  forbid(container.livenessProbe.has_value(), "livenessProbe");
  forbid(container.readinessProbe.has_value(), "readinessProbe");
  forbid(container.startupProbe.has_value(), "startupProbe");
  return errors;
}

FieldErrorList CheckOnlyForPod(const Container& container, const FieldPath& path) {
  if (TrimSpace(container.image).size() == container.image.size()) return {};
  return {FieldError::Invalid(path.Child("image"), container.image,
                              "must not have leading or trailing whitespace")};
}

// Ephemeral containers cannot have ports, probes, resources and similar fields.
FieldErrorList CheckEphemeralOnly(const Container& container, const FieldPath& path) {
  constexpr const char* kWhy = "cannot be set for an Ephemeral Container";
  FieldErrorList errors;
  auto forbid = [&](bool set, std::string_view name) {
    if (set) errors.push_back(FieldError::Forbidden(path.Child(name), kWhy));
  };
  const core::v1::ResourceRequirements& resources = container.resources;
  forbid(!container.ports.empty(), "ports");
  forbid(!resources.limits.empty() || !resources.requests.empty() || !resources.claims.empty(),
         "resources");
  forbid(!container.resizePolicy.empty(), "resizePolicy");
  forbid(container.restartPolicy.has_value(), "restartPolicy");
  forbid(!container.restartPolicyRules.empty(), "restartPolicyRules");
  forbid(container.livenessProbe.has_value(), "livenessProbe");
  forbid(container.readinessProbe.has_value(), "readinessProbe");
  forbid(container.startupProbe.has_value(), "startupProbe");
  forbid(container.lifecycle.has_value(), "lifecycle");
  for (size_t i = 0; i < container.volumeMounts.size(); ++i) {
    const FieldPath at = path.Child("volumeMounts").Index(i);
    if (!container.volumeMounts[i].subPath.empty())
      errors.push_back(FieldError::Forbidden(at.Child("subPath"), kWhy));
    if (!container.volumeMounts[i].subPathExpr.empty())
      errors.push_back(FieldError::Forbidden(at.Child("subPathExpr"), kWhy));
  }
  return errors;
}

}  // namespace

FieldErrorList CheckContainers(const PodSpec& spec, const PodView& view, const FieldPath& path) {
  if (spec.containers.empty()) return {FieldError::Required(path)};
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    const Container& container = spec.containers[i];
    const FieldPath at = path.Index(i);
    Append(errors, CheckCommon(container, view, at));
    if (!names.insert(container.name).second)
      errors.push_back(FieldError::Duplicate(at.Child("name"), container.name));
    Append(errors, CheckRunning(container, view, at));
    Append(errors, CheckRestartPolicy(container, at));
  }
  std::set<std::string> host_ports;
  for (size_t i = 0; i < spec.containers.size(); ++i) {
    Append(errors,
           CheckHostPorts(spec.containers[i].ports, path.Index(i).Child("ports"), host_ports));
  }
  return errors;
}

FieldErrorList CheckInitContainers(const PodSpec& spec, const PodView& view,
                                   const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> names;
  for (const Container& container : spec.containers) names.insert(container.name);
  for (size_t i = 0; i < spec.initContainers.size(); ++i) {
    const Container& container = spec.initContainers[i];
    const FieldPath at = path.Index(i);
    const bool sidecar = core_rules::IsSidecar(container);
    Append(errors, CheckCommon(container, view, at));
    Append(errors, CheckRestartPolicy(container, at));
    if (!container.name.empty() && !names.insert(container.name).second)
      errors.push_back(FieldError::Duplicate(at.Child("name"), container.name));
    // Init containers run one after another, so they can use the same host ports.
    std::set<std::string> host_ports;
    Append(errors, CheckHostPorts(container.ports, path.Index(0).Child("ports"), host_ports));
    Append(errors, sidecar ? CheckRunning(container, view, at) : CheckNotRunning(container, at));
  }
  return errors;
}

FieldErrorList CheckEphemeralContainers(const PodSpec& spec, const PodView& view,
                                        const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string> others, names;
  for (const Container& container : spec.containers) others.insert(container.name);
  for (const Container& container : spec.initContainers) others.insert(container.name);
  names = others;
  for (size_t i = 0; i < spec.ephemeralContainers.size(); ++i) {
    const Container container = core_rules::AsContainer(spec.ephemeralContainers[i]);
    const FieldPath at = path.Index(i);
    Append(errors, CheckCommon(container, view, at));
    Append(errors, CheckOnlyForPod(container, at));
    if (!names.insert(container.name).second)
      errors.push_back(FieldError::Duplicate(at.Child("name"), container.name));
    const std::string& target = spec.ephemeralContainers[i].targetContainerName;
    if (!target.empty() && !others.contains(target))
      errors.push_back(FieldError::NotFound(at.Child("targetContainerName"), target));
    Append(errors, CheckEphemeralOnly(container, at));
  }
  return errors;
}

FieldErrorList CheckContainersOnlyForPod(const List<Container>& containers, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < containers.size(); ++i)
    Append(errors, CheckOnlyForPod(containers[i], path.Index(i)));
  return errors;
}

}  // namespace cox::apiserver::pod
