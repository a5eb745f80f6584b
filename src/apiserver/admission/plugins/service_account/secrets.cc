// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/service_account/secrets.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::apiserver::service_account {
namespace {

using core::v1::PodSpec;
using core::v1::ServiceAccount;

constexpr std::string_view kEnforceMountableSecrets = "kubernetes.io/enforce-mountable-secrets";

bool IsTrue(std::string_view text) {
  static constexpr std::string_view kTrue[] = {"1", "t", "T", "true", "TRUE", "True"};
  return std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue);
}

// Calls visit(secret, variable) for each secret in a container's environment, until `visit` returns
// false. `variable` is null for envFrom.
template <class Container, class Visit>
void VisitEnvironment(const Container& container, const Visit& visit) {
  for (const core::v1::EnvVar& env : container.env) {
    if (!env.valueFrom || !env.valueFrom->secretKeyRef) continue;
    if (!visit(env.valueFrom->secretKeyRef->localObjectReference.name, &env.name)) return;
  }
  for (const core::v1::EnvFromSource& from : container.envFrom) {
    if (!from.secretRef) continue;
    if (!visit(from.secretRef->localObjectReference.name, nullptr)) return;
  }
}

// The secrets that an account lists, and the error text for a secret that it does not list.
class Allowed {
 public:
  explicit Allowed(const ServiceAccount& account) : account_(account) {}

  bool Secret(std::string_view name) const {
    return std::any_of(account_.secrets.begin(), account_.secrets.end(),
                       [&](const core::v1::ObjectReference& ref) { return ref.name == name; });
  }
  bool PullSecret(std::string_view name) const {
    return std::any_of(account_.imagePullSecrets.begin(), account_.imagePullSecrets.end(),
                       [&](const core::v1::LocalObjectReference& ref) { return ref.name == name; });
  }
  std::string Violation(const std::string& what, std::string_view kind = "secret") const {
    return what + " is not allowed because service account " + account_.metadata.name +
           " does not reference that " + std::string(kind);
  }

  // The error text for a container's environment; empty if it is allowed.
  template <class Container>
  std::string Environment(const Container& container, std::string_view kind) const {
    std::string violation;
    VisitEnvironment(container, [&](const std::string& secret, const std::string* variable) {
      if (Secret(secret)) return true;
      std::string what(kind);
      what.append(" ").append(container.name);
      what += variable == nullptr ? " with envFrom" : " with envVar " + *variable;
      violation = Violation(what + " referencing secret.secretName=\"" + secret + "\"");
      return false;
    });
    return violation;
  }

 private:
  const ServiceAccount& account_;
};

std::string ForbiddenVolume(const Allowed& allowed, const PodSpec& spec) {
  for (const core::v1::Volume& volume : spec.volumes) {
    const core::v1::VolumeSource& source = volume.volumeSource;
    if (source.secret && !allowed.Secret(source.secret->secretName)) {
      return allowed.Violation("volume with secret.secretName=\"" + source.secret->secretName +
                               "\"");
    }
    if (!source.projected) continue;
    // Projected secrets are mounted, too.
    for (const core::v1::VolumeProjection& projection : source.projected->sources) {
      if (!projection.secret) continue;
      const std::string& name = projection.secret->localObjectReference.name;
      if (!allowed.Secret(name)) {
        return allowed.Violation("volume with projected secret.name=\"" + name + "\"");
      }
    }
  }
  return {};
}

}  // namespace

bool EnforcesMountableSecrets(const ServiceAccount& account) {
  const std::string* value = account.metadata.annotations.Get(kEnforceMountableSecrets);
  return value != nullptr && IsTrue(*value);
}

std::string ForbiddenSecret(const ServiceAccount& account, const PodSpec& spec) {
  const Allowed allowed(account);
  std::string violation = ForbiddenVolume(allowed, spec);
  for (const core::v1::Container& container : spec.initContainers) {
    if (violation.empty()) violation = allowed.Environment(container, "init container");
  }
  for (const core::v1::Container& container : spec.containers) {
    if (violation.empty()) violation = allowed.Environment(container, "container");
  }
  if (violation.empty()) violation = ForbiddenEphemeralSecret(account, spec);
  for (size_t i = 0; i < spec.imagePullSecrets.size() && violation.empty(); ++i) {
    const std::string& name = spec.imagePullSecrets[i].name;
    if (allowed.PullSecret(name)) continue;
    violation = allowed.Violation(
        "imagePullSecrets[" + std::to_string(i) + "].name=\"" + name + "\"", "imagePullSecret");
  }
  return violation;
}

std::string ForbiddenEphemeralSecret(const ServiceAccount& account, const PodSpec& spec) {
  const Allowed allowed(account);
  std::string violation;
  for (const core::v1::EphemeralContainer& container : spec.ephemeralContainers) {
    if (!violation.empty()) break;
    violation = allowed.Environment(container.ephemeralContainerCommon, "ephemeral container");
  }
  return violation;
}

}  // namespace cox::apiserver::service_account
