// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "object/validation/field_error.h"
#include "object/validation/names.h"

// The rules of a pod by theme; one source file each. What each function takes stands at `path`.
// They return the errors in the order of the fields, none when all is well.
namespace cox::apiserver::pod {

using core::v1::Container;
using core::v1::EphemeralContainer;
using core::v1::PodSpec;
using core::v1::Volume;

// What the containers of one pod are checked against.
struct PodView {
  const List<Volume>& volumes;             // those without errors
  const std::vector<std::string>& claims;  // names of spec.resourceClaims
  std::optional<int64_t> grace_period;
  std::string_view restart_policy;
  bool host_users = true;
  const PodValidationOptions& options;
};

// common.cc: rules that many fields share.
void AddInvalid(FieldErrorList& errors, const FieldPath& path, std::string_view value,
                validation::Messages messages);
FieldErrorList CheckDnsLabel(std::string_view value, const FieldPath& path);
FieldErrorList CheckDnsSubdomain(std::string_view value, const FieldPath& path);
FieldErrorList CheckQualifiedName(std::string_view value, const FieldPath& path);
// One of `supported`; empty is Required.
FieldErrorList CheckEnum(std::string_view value, const FieldPath& path,
                         std::initializer_list<std::string_view> supported);
// Paths inside volumes: no "..", not absolute; with `reserved` the names that begin with ".." too.
FieldErrorList CheckNoBacksteps(std::string_view value, const FieldPath& path);
FieldErrorList CheckLocalDescendingPath(std::string_view value, const FieldPath& path);
FieldErrorList CheckLocalNonReservedPath(std::string_view value, const FieldPath& path);
FieldErrorList CheckFileMode(const std::optional<int32_t>& mode, const FieldPath& path);
void CheckRequired(FieldErrorList& errors, std::string_view value, const FieldPath& path);
FieldErrorList CheckPullPolicy(std::string_view policy, const FieldPath& path);

// containers.cc
FieldErrorList CheckContainers(const PodSpec& spec, const PodView& view, const FieldPath& path);
FieldErrorList CheckInitContainers(const PodSpec& spec, const PodView& view, const FieldPath& path);
FieldErrorList CheckEphemeralContainers(const PodSpec& spec, const PodView& view,
                                        const FieldPath& path);
// Rules for pods that templates are spared: images without white space around.
FieldErrorList CheckContainersOnlyForPod(const List<Container>& containers, const FieldPath& path);

// mounts.cc
FieldErrorList CheckVolumeMounts(const Container& container, const List<Volume>& volumes,
                                 const FieldPath& path);
FieldErrorList CheckVolumeDevices(const Container& container, const List<Volume>& volumes,
                                  const FieldPath& path);

// env.cc
FieldErrorList CheckEnv(const List<core::v1::EnvVar>& env, const FieldPath& path);
FieldErrorList CheckEnvFrom(const List<core::v1::EnvFromSource>& sources, const FieldPath& path);
// Variables read from files name a volume of the pod.
FieldErrorList CheckEnvFileVolumes(const List<core::v1::EnvVar>& env, const List<Volume>& volumes,
                                   const FieldPath& path);
// `fields` are the paths that may be referred to, sorted.
FieldErrorList CheckObjectFieldSelector(const core::v1::ObjectFieldSelector& selector,
                                        std::span<const std::string_view> fields,
                                        const FieldPath& path);
FieldErrorList CheckResourceFieldSelector(const core::v1::ResourceFieldSelector& selector,
                                          bool in_volume, const FieldPath& path);

// probes.cc
FieldErrorList CheckLivenessProbe(const core::v1::Probe* probe, const PodView& view,
                                  const FieldPath& path);
FieldErrorList CheckReadinessProbe(const core::v1::Probe* probe, const PodView& view,
                                   const FieldPath& path);
FieldErrorList CheckStartupProbe(const core::v1::Probe* probe, const PodView& view,
                                 const FieldPath& path);
FieldErrorList CheckLifecycle(const core::v1::Lifecycle* lifecycle, const PodView& view,
                              const FieldPath& path);

// resources.cc
FieldErrorList CheckResourceClaims(const List<core::v1::PodResourceClaim>& claims,
                                   const FieldPath& path);
// spec.resources, against those of the containers too.
FieldErrorList CheckPodResources(const PodSpec& spec, const FieldPath& path,
                                 const PodValidationOptions& options);
FieldErrorList CheckResizePolicy(const List<core::v1::ContainerResizePolicy>& policies,
                                 std::string_view restart_policy, const FieldPath& path);

// volumes.cc, network_volumes.cc, projected.cc, claim_spec.cc. `valid` gets the volumes without
// errors.
FieldErrorList CheckVolumes(const PodSpec& spec, const meta::v1::ObjectMeta* meta,
                            const FieldPath& path, const PodValidationOptions& options,
                            List<Volume>* valid);
FieldErrorList CheckProjected(const core::v1::ProjectedVolumeSource& source, const FieldPath& path,
                              const PodValidationOptions& options);
FieldErrorList CheckDownwardFile(const core::v1::DownwardAPIVolumeFile& file,
                                 const FieldPath& path);
FieldErrorList CheckClaimSpec(const core::v1::PersistentVolumeClaimSpec& spec,
                              const FieldPath& path);
FieldErrorList CheckCsiDriverName(std::string_view name, const FieldPath& path);
FieldErrorList CheckKeyToPath(const core::v1::KeyToPath& item, const FieldPath& path);

// One set member of a VolumeSource: its name in paths, and its errors.
struct VolumeSourceCheck {
  std::string_view name;
  bool set = false;
  FieldErrorList errors;
};
// The types that are network or cloud storage, in the order they are looked at.
std::vector<VolumeSourceCheck> CheckNetworkSources(const core::v1::VolumeSource& source,
                                                   const FieldPath& path);

// security.cc, windows.cc
FieldErrorList CheckPodSecurityContext(const PodSpec& spec, const FieldPath& path,
                                       const PodValidationOptions& options);
FieldErrorList CheckSecurityContext(const core::v1::SecurityContext* context, bool host_users,
                                    const FieldPath& path);
FieldErrorList CheckWindowsOptions(const core::v1::WindowsSecurityContextOptions* options,
                                   const FieldPath& path);
FieldErrorList CheckHostProcess(const PodSpec& spec, const FieldPath& path);
// spec.os and what it forbids.
FieldErrorList CheckOS(const PodSpec& spec, const FieldPath& path);

// annotations.cc: those of pods that have rules.
FieldErrorList CheckPodAnnotations(const meta::v1::ObjectMeta& meta, const PodSpec& spec,
                                   const FieldPath& path, const PodValidationOptions& options);

// scheduling.cc, affinity.cc
FieldErrorList CheckAffinity(const core::v1::Affinity* affinity, const FieldPath& path,
                             const PodValidationOptions& options);
FieldErrorList CheckTopologySpread(const List<core::v1::TopologySpreadConstraint>& constraints,
                                   const FieldPath& path, const PodValidationOptions& options);
FieldErrorList CheckSchedulingGates(const List<core::v1::PodSchedulingGate>& gates,
                                    const FieldPath& path);

// network.cc
FieldErrorList CheckDns(const PodSpec& spec, const FieldPath& path,
                        const PodValidationOptions& options);
FieldErrorList CheckHostAliases(const List<core::v1::HostAlias>& aliases, const FieldPath& path,
                                const PodValidationOptions& options);
FieldErrorList CheckHostNames(const PodSpec& spec, const FieldPath& path);
FieldErrorList CheckHostNetworkPorts(const List<Container>& containers, const FieldPath& path,
                                     const PodValidationOptions& options);

}  // namespace cox::apiserver::pod
