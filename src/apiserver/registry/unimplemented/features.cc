// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/unimplemented/features.h"

#include "api/admissionregistration/v1.h"
#include "api/apiextensions/v1.h"
#include "api/apiregistration/v1.h"
#include "api/apps/v1.h"
#include "api/autoscaling/v2.h"
#include "api/batch/v1.h"
#include "api/certificates/v1.h"
#include "api/core/v1.h"
#include "api/networking/v1.h"
#include "api/policy/v1.h"
#include "api/rbac/v1.h"
#include "api/resource/v1.h"
#include "api/scheduling/v1.h"
#include "api/storage/v1.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kNoPods = "no controller creates its Pods";
constexpr std::string_view kNotEnforced = "the policy is not enforced";
constexpr std::string_view kConditions = "the conditions are not evaluated and count as failed";
constexpr std::string_view kNoDevices = "no devices are allocated";
constexpr std::string_view kNotScheduled = "default-scheduler does not schedule the Pod";
constexpr std::string_view kIgnored = "default-scheduler ignores the preference";
constexpr std::string_view kNotMounted = "the kubelet does not mount the volume or start the Pod";
constexpr std::string_view kNotStarted = "the container does not start";
constexpr std::string_view kNotLimited = "the kubelet does not enforce the limit";

// Remove an entry here and in docs/differences.md when it is implemented.
constexpr Feature kFeatures[] = {
    // Admission and extensions of the API.
    {.kind = &admissionregistration::v1::ValidatingAdmissionPolicy::kKind, .effect = kNotEnforced},
    {.kind = &admissionregistration::v1::ValidatingAdmissionPolicyBinding::kKind,
     .effect = kNotEnforced},
    {.kind = &admissionregistration::v1::MutatingAdmissionPolicy::kKind, .effect = kNotEnforced},
    {.kind = &admissionregistration::v1::MutatingAdmissionPolicyBinding::kKind,
     .effect = kNotEnforced},
    {.kind = &admissionregistration::v1::ValidatingWebhookConfiguration::kKind,
     .path = "webhooks[].matchConditions",
     .effect = kConditions},
    {.kind = &admissionregistration::v1::MutatingWebhookConfiguration::kKind,
     .path = "webhooks[].matchConditions",
     .effect = kConditions},
    {.kind = &apiextensions::v1::CustomResourceDefinition::kKind,
     .effect = "its custom resources are not served"},
    {.kind = &apiregistration::v1::APIService::kKind,
     .path = "spec.service",
     .effect = "requests are not forwarded to the Service"},

    // Controllers.
    {.kind = &apps::v1::StatefulSet::kKind, .effect = kNoPods},
    {.kind = &apps::v1::DaemonSet::kKind, .effect = kNoPods},
    {.kind = &core::v1::ReplicationController::kKind, .effect = kNoPods},
    {.kind = &batch::v1::CronJob::kKind, .effect = "no controller creates its Jobs"},
    {.kind = &batch::v1::Job::kKind,
     .path = "spec.ttlSecondsAfterFinished",
     .effect = "no controller deletes the finished Job"},
    {.kind = &autoscaling::v2::HorizontalPodAutoscaler::kKind,
     .effect = "no controller changes the number of replicas"},
    {.kind = &policy::v1::PodDisruptionBudget::kKind,
     .effect = "no controller sets its status, so evictions of its Pods are rejected"},
    {.kind = &core::v1::ResourceQuota::kKind,
     .effect = "no controller sets its status, so it limits nothing"},
    {.kind = &rbac::v1::ClusterRole::kKind,
     .path = "aggregationRule",
     .effect = "no controller adds the rules of the selected roles"},
    {.kind = &certificates::v1::CertificateSigningRequest::kKind,
     .path = "spec.signerName",
     .value = "kubernetes.io/*",
     .effect = "no controller signs the certificate"},
    {.kind = &core::v1::Secret::kKind,
     .path = "type",
     .value = "kubernetes.io/service-account-token",
     .effect = "no controller adds a token"},
    {.kind = &core::v1::Secret::kKind,
     .path = "type",
     .value = "bootstrap.kubernetes.io/token",
     .effect = "no controller signs cluster-info with the token or deletes it when it expires"},
    {.kind = &core::v1::Service::kKind,
     .path = "spec.type",
     .value = "LoadBalancer",
     .effect = "no controller assigns an address, unless you install one"},
    {.kind = &core::v1::Endpoints::kKind,
     .path = "subsets",
     .unless = "metadata.labels['endpointslice.kubernetes.io/skip-mirror']=true",
     .effect = "no controller copies them to EndpointSlices, which the proxy and DNS use"},
    {.kind = &networking::v1::NetworkPolicy::kKind,
     .effect = "it is not enforced, unless the network plugin does"},

    // Storage and devices.
    {.kind = &core::v1::PersistentVolume::kKind, .effect = "no controller binds it"},
    {.kind = &core::v1::PersistentVolumeClaim::kKind, .effect = "no controller binds it"},
    {.kind = &storage::v1::StorageClass::kKind, .effect = "no volumes are provisioned for it"},
    {.kind = &storage::v1::VolumeAttachment::kKind,
     .effect = "the kubelet does not mount the volume"},
    {.kind = &storage::v1::CSIDriver::kKind, .effect = "the kubelet does not use the driver"},
    {.kind = &storage::v1::CSIStorageCapacity::kKind,
     .effect = "default-scheduler does not use it"},
    {.kind = &resource::v1::ResourceClaim::kKind, .effect = kNoDevices},
    {.kind = &resource::v1::ResourceClaimTemplate::kKind, .effect = kNoDevices},
    {.kind = &resource::v1::DeviceClass::kKind, .effect = kNoDevices},
    {.kind = &resource::v1::ResourceSlice::kKind, .effect = kNoDevices},

    // Preemption.
    {.kind = &scheduling::v1::PriorityClass::kKind,
     .path = "preemptionPolicy",
     .value = "PreemptLowerPriority",
     .effect = "its Pods do not preempt other Pods"},
    {.kind = &core::v1::Pod::kKind,
     .path = "spec.priorityClassName",
     .unless = "preemptionPolicy=Never",
     .effect = "the Pod does not preempt other Pods"},

    {.kind = &core::v1::Pod::kKind,
     .subresource = "resize",
     .effect = "the kubelet does not change the resources of running containers"},

    // Scheduling of Pods: scheduler/plugins/unsupported_requirements.cc.
    {.path = "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
     .effect = kNotScheduled},
    {.path = "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution",
     .effect = kIgnored},
    {.path = "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
     .effect = kNotScheduled},
    {.path = "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution",
     .effect = kIgnored},
    {.path = "topologySpreadConstraints[].whenUnsatisfiable",
     .value = "DoNotSchedule",
     .effect = kNotScheduled},
    {.path = "topologySpreadConstraints[].whenUnsatisfiable",
     .value = "ScheduleAnyway",
     .effect = kIgnored},
    {.path = "resourceClaims", .effect = kNotScheduled},
    {.path = "volumes[].persistentVolumeClaim", .effect = kNotScheduled},
    {.path = "volumes[].ephemeral", .effect = kNotScheduled},

    // Volumes: kubelet/volumes/manager.cc.
    {.path = "volumes[].awsElasticBlockStore", .effect = kNotMounted},
    {.path = "volumes[].azureDisk", .effect = kNotMounted},
    {.path = "volumes[].azureFile", .effect = kNotMounted},
    {.path = "volumes[].cephfs", .effect = kNotMounted},
    {.path = "volumes[].cinder", .effect = kNotMounted},
    {.path = "volumes[].csi", .effect = kNotMounted},
    {.path = "volumes[].fc", .effect = kNotMounted},
    {.path = "volumes[].flexVolume", .effect = kNotMounted},
    {.path = "volumes[].flocker", .effect = kNotMounted},
    {.path = "volumes[].gcePersistentDisk", .effect = kNotMounted},
    {.path = "volumes[].gitRepo", .effect = kNotMounted},
    {.path = "volumes[].glusterfs", .effect = kNotMounted},
    {.path = "volumes[].image", .effect = kNotMounted},
    {.path = "volumes[].iscsi", .effect = kNotMounted},
    {.path = "volumes[].nfs", .effect = kNotMounted},
    {.path = "volumes[].photonPersistentDisk", .effect = kNotMounted},
    {.path = "volumes[].portworxVolume", .effect = kNotMounted},
    {.path = "volumes[].quobyte", .effect = kNotMounted},
    {.path = "volumes[].rbd", .effect = kNotMounted},
    {.path = "volumes[].scaleIO", .effect = kNotMounted},
    {.path = "volumes[].storageos", .effect = kNotMounted},
    {.path = "volumes[].vsphereVolume", .effect = kNotMounted},
    {.path = "volumes[].emptyDir.medium", .value = "HugePages*", .effect = kNotMounted},
    {.path = "volumes[].emptyDir.sizeLimit", .unless = "medium=Memory", .effect = kNotLimited},

    // Containers.
    {.path = "hostUsers", .value = "false", .effect = "the kubelet does not start the Pod"},
    {.path = "containers[].resources.limits['ephemeral-storage']", .effect = kNotLimited},
    {.path = "initContainers[].resources.limits['ephemeral-storage']", .effect = kNotLimited},
    {.path = "resources.limits['hugepages-*']", .effect = kNotLimited},
    {.path = "containers[].resources.limits['hugepages-*']", .effect = kNotLimited},
    {.path = "initContainers[].resources.limits['hugepages-*']", .effect = kNotLimited},
    {.path = "containers[].env[].valueFrom.fileKeyRef", .effect = kNotStarted},
    {.path = "initContainers[].env[].valueFrom.fileKeyRef", .effect = kNotStarted},
    {.path = "containers[].volumeMounts[].recursiveReadOnly",
     .value = "Enabled",
     .effect = kNotStarted},
    {.path = "initContainers[].volumeMounts[].recursiveReadOnly",
     .value = "Enabled",
     .effect = kNotStarted},
};

constexpr PodSpecPath kPodSpecPaths[] = {
    {&core::v1::Pod::kKind, "spec"},
    {&core::v1::PodTemplate::kKind, "template.spec"},
    {&core::v1::ReplicationController::kKind, "spec.template.spec"},
    {&apps::v1::Deployment::kKind, "spec.template.spec"},
    {&apps::v1::ReplicaSet::kKind, "spec.template.spec"},
    {&apps::v1::StatefulSet::kKind, "spec.template.spec"},
    {&apps::v1::DaemonSet::kKind, "spec.template.spec"},
    {&batch::v1::Job::kKind, "spec.template.spec"},
    {&batch::v1::CronJob::kKind, "spec.jobTemplate.spec.template.spec"},
};

}  // namespace

std::span<const Feature> UnimplementedFeatures() { return kFeatures; }

std::span<const PodSpecPath> PodSpecPaths() { return kPodSpecPaths; }

}  // namespace cox::apiserver
