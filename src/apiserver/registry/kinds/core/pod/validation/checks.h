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

// Validation of pods, one source file for each topic. `path` is the path of the first parameter.
// The functions return errors in the order of the fields.
namespace cox::apiserver::pod {

using core::v1::Container;
using core::v1::EphemeralContainer;
using core::v1::PodSpec;
using core::v1::Volume;

// The data of a pod that the validation of its containers needs.
struct PodView {
  const List<Volume>& volumes;             // those without errors
  const std::vector<std::string>& claims;  // names of spec.resourceClaims
  std::optional<int64_t> grace_period;
  std::string_view restart_policy;
  bool host_users = true;
  const PodValidationOptions& options;
};

// common.cc: rules for many fields.
void AddInvalid(FieldErrorList& errors, const FieldPath& path, std::string_view value,
                validation::Messages messages);
FieldErrorList CheckDnsLabel(std::string_view value, const FieldPath& path);
FieldErrorList CheckDnsSubdomain(std::string_view value, const FieldPath& path);
FieldErrorList CheckQualifiedName(std::string_view value, const FieldPath& path);
// The value must be one of `supported`; an empty value is Required.
FieldErrorList CheckEnum(std::string_view value, const FieldPath& path,
                         std::initializer_list<std::string_view> supported);
// Paths in volumes: no "..", not absolute; for non-reserved paths also no names that begin with
// "..".
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
// Rules for pods but not for templates: images without surrounding white space.
FieldErrorList CheckContainersOnlyForPod(const List<Container>& containers, const FieldPath& path);

// mounts.cc
FieldErrorList CheckVolumeMounts(const Container& container, const List<Volume>& volumes,
                                 const FieldPath& path);
FieldErrorList CheckVolumeDevices(const Container& container, const List<Volume>& volumes,
                                  const FieldPath& path);

// env.cc
FieldErrorList CheckEnv(const List<core::v1::EnvVar>& env, const FieldPath& path);
FieldErrorList CheckEnvFrom(const List<core::v1::EnvFromSource>& sources, const FieldPath& path);
// Variables from files must refer to a volume of the pod.
FieldErrorList CheckEnvFileVolumes(const List<core::v1::EnvVar>& env, const List<Volume>& volumes,
                                   const FieldPath& path);
// `fields` are the paths that are allowed, sorted.
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
// Validates spec.resources, also against those of the containers.
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

// A member of a VolumeSource: its name in paths, and its errors.
struct VolumeSourceCheck {
  std::string_view name;
  bool set = false;
  FieldErrorList errors;
};
// The sources that are network or cloud storage, in the order of validation.
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
// Validates spec.os and the fields that it forbids.
FieldErrorList CheckOS(const PodSpec& spec, const FieldPath& path);

// annotations.cc: annotations of pods that have rules.
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
