// SPDX-License-Identifier: Apache-2.0
#include "object/core/containers.h"

namespace cox::core_rules {

using core::v1::Container;

bool IsSidecar(const Container& init) {
  return init.restartPolicy == core::v1::kContainerRestartPolicyAlways;
}

Container AsContainer(const core::v1::EphemeralContainer& ephemeral) {
  const core::v1::EphemeralContainerCommon& c = ephemeral.ephemeralContainerCommon;
  return {.name = c.name,
          .image = c.image,
          .command = c.command,
          .args = c.args,
          .workingDir = c.workingDir,
          .ports = c.ports,
          .envFrom = c.envFrom,
          .env = c.env,
          .resources = c.resources,
          .resizePolicy = c.resizePolicy,
          .restartPolicy = c.restartPolicy,
          .restartPolicyRules = c.restartPolicyRules,
          .volumeMounts = c.volumeMounts,
          .volumeDevices = c.volumeDevices,
          .livenessProbe = c.livenessProbe,
          .readinessProbe = c.readinessProbe,
          .startupProbe = c.startupProbe,
          .lifecycle = c.lifecycle,
          .terminationMessagePath = c.terminationMessagePath,
          .terminationMessagePolicy = c.terminationMessagePolicy,
          .imagePullPolicy = c.imagePullPolicy,
          .securityContext = c.securityContext,
          .stdin = c.stdin,
          .stdinOnce = c.stdinOnce,
          .tty = c.tty};
}

}  // namespace cox::core_rules
