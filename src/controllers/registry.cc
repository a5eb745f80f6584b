// SPDX-License-Identifier: Apache-2.0
#include "controllers/registry.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/strings.h"
#include "controllers/identity/rootca/root_ca_publisher.h"
#include "controllers/identity/serviceaccount/serviceaccount_controller.h"
#include "controllers/lifecycle/garbagecollector/garbage_collector.h"
#include "controllers/lifecycle/namespace/namespace_controller.h"
#include "controllers/lifecycle/podgc/pod_gc_controller.h"
#include "controllers/lifecycle/vacprotection/vac_protection_controller.h"
#include "controllers/network/endpoints/endpoints_controller.h"
#include "controllers/network/endpointslice/endpointslice_controller.h"
#include "controllers/node/nodeipam/nodeipam_controller.h"
#include "controllers/node/nodelifecycle/nodelifecycle_controller.h"
#include "controllers/node/tainteviction/tainteviction_controller.h"
#include "controllers/shared/controller_view.h"
#include "controllers/workload/deployment/deployment_controller.h"
#include "controllers/workload/job/job_controller.h"
#include "controllers/workload/replicaset/replicaset_controller.h"

namespace cox::controllers {
namespace {

// The value of the label "manager".
constexpr std::string_view kManagerName = "kube-controller-manager";

// Adds a controller with its part of the options.
template <auto kAdd, auto kOptions>
Status AddWith(Manager& manager, const Options& options) {
  return kAdd(manager, options.*kOptions);
}

// The names of accounts and reporters are those of upstream, because its RBAC roles contain them
// and its users search for them.
constexpr ControllerInfo kControllers[] = {
    {"serviceaccount-controller", "service-account-controller", "",
     AddWith<AddServiceAccountController, &Options::service_account>},
    {"root-ca-certificate-publisher-controller", "root-ca-cert-publisher", "",
     AddWith<AddRootCaPublisher, &Options::root_ca>},
    {"namespace-controller", "namespace-controller", "",
     AddWith<AddNamespaceController, &Options::namespaces>},
    {"garbage-collector-controller", "generic-garbage-collector", "",
     AddWith<AddGarbageCollector, &Options::garbage_collector>},
    {"pod-garbage-collector-controller", "pod-garbage-collector", "",
     AddWith<AddPodGcController, &Options::pod_gc>},
    {"replicaset-controller", "replicaset-controller", "",
     AddWith<AddReplicaSetController, &Options::replica_set>},
    {"deployment-controller", "deployment-controller", "",
     AddWith<AddDeploymentController, &Options::deployment>},
    {"job-controller", "job-controller", "", AddWith<AddJobController, &Options::job>},
    {"endpoints-controller", "endpoint-controller", "endpoint-controller",
     AddWith<AddEndpointsController, &Options::endpoints>},
    {"endpointslice-controller", "endpointslice-controller", "endpoint-slice-controller",
     AddWith<AddEndpointSliceController, &Options::endpoint_slice>},
    {"node-ipam-controller", "node-controller", "cidrAllocator",
     AddWith<AddNodeIpamController, &Options::node_ipam>},
    {"node-lifecycle-controller", "node-controller", "node-controller",
     AddWith<AddNodeLifecycleController, &Options::node_lifecycle>},
    {"taint-eviction-controller", "node-controller", "",
     [](Manager& manager, const Options&) { return AddTaintEvictionController(manager); }},
    {"volumeattributesclass-protection-controller", "volumeattributesclass-protection-controller",
     "", [](Manager& manager, const Options&) { return AddVacProtectionController(manager); }},
};

// Upstream controllers that are not implemented yet. Command lines may contain their names.
constexpr std::string_view kNotYet[] = {
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "cloud-node-lifecycle-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "device-taint-eviction-controller",
    "disruption-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "horizontal-pod-autoscaler-controller",
    "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "node-route-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-expander-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "podcertificaterequest-cleaner-controller",
    "replicationcontroller-controller",
    "resourceclaim-controller",
    "resourcequota-controller",
    "selinux-warning-controller",
    "service-cidr-controller",
    "service-lb-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "storage-version-migrator-controller",
    "storageversion-garbage-collector-controller",
    "token-cleaner-controller",
    "ttl-after-finished-controller",
    "ttl-controller",
    "validatingadmissionpolicy-status-controller",
};

// Names from before 1.28, which command lines still use.
struct Alias {
  std::string_view old, name;
};
constexpr Alias kAliases[] = {
    {"attachdetach", "persistentvolume-attach-detach-controller"},
    {"bootstrapsigner", "bootstrap-signer-controller"},
    {"cloud-node-lifecycle", "cloud-node-lifecycle-controller"},
    {"clusterrole-aggregation", "clusterrole-aggregation-controller"},
    {"cronjob", "cronjob-controller"},
    {"csrapproving", "certificatesigningrequest-approving-controller"},
    {"csrcleaner", "certificatesigningrequest-cleaner-controller"},
    {"csrsigning", "certificatesigningrequest-signing-controller"},
    {"daemonset", "daemonset-controller"},
    {"deployment", "deployment-controller"},
    {"disruption", "disruption-controller"},
    {"endpoint", "endpoints-controller"},
    {"endpointslice", "endpointslice-controller"},
    {"endpointslicemirroring", "endpointslice-mirroring-controller"},
    {"ephemeral-volume", "ephemeral-volume-controller"},
    {"garbagecollector", "garbage-collector-controller"},
    {"horizontalpodautoscaling", "horizontal-pod-autoscaler-controller"},
    {"job", "job-controller"},
    {"namespace", "namespace-controller"},
    {"nodeipam", "node-ipam-controller"},
    {"nodelifecycle", "node-lifecycle-controller"},
    {"persistentvolume-binder", "persistentvolume-binder-controller"},
    {"persistentvolume-expander", "persistentvolume-expander-controller"},
    {"podgc", "pod-garbage-collector-controller"},
    {"pv-protection", "persistentvolume-protection-controller"},
    {"pvc-protection", "persistentvolumeclaim-protection-controller"},
    {"replicaset", "replicaset-controller"},
    {"replicationcontroller", "replicationcontroller-controller"},
    {"resourcequota", "resourcequota-controller"},
    {"root-ca-cert-publisher", "root-ca-certificate-publisher-controller"},
    {"route", "node-route-controller"},
    {"service", "service-lb-controller"},
    {"serviceaccount", "serviceaccount-controller"},
    {"serviceaccount-token", "serviceaccount-token-controller"},
    {"statefulset", "statefulset-controller"},
    {"storage-version-gc", "storageversion-garbage-collector-controller"},
    {"tokencleaner", "token-cleaner-controller"},
    {"ttl", "ttl-controller"},
    {"ttl-after-finished", "ttl-after-finished-controller"},
};

struct Word {
  bool off = false;
  std::string_view name;
};

Word Read(std::string_view text) {
  Word word{.off = text.starts_with('-'), .name = text};
  if (word.off) word.name.remove_prefix(1);
  for (const Alias& alias : kAliases) {
    if (alias.old == word.name) word.name = alias.name;
  }
  return word;
}

bool IsOneOf(std::string_view name) {
  return std::any_of(std::begin(kControllers), std::end(kControllers),
                     [name](const ControllerInfo& info) { return info.name == name; });
}
bool IsNotYet(std::string_view name) {
  return std::find(std::begin(kNotYet), std::end(kNotYet), name) != std::end(kNotYet);
}

}  // namespace

bool IsEnabled(const ControllerInfo& controller, const std::vector<std::string>& words) {
  bool enabled = false;
  for (const std::string& text : words) {
    if (text == "*") enabled = enabled || controller.on_by_default;
    const Word word = Read(text);
    if (word.name != controller.name) continue;
    if (word.off) return false;
    enabled = true;
  }
  return enabled;
}

std::span<const ControllerInfo> AllControllers() { return kControllers; }

Status AddControllers(Manager& manager, const Options& options, const ClientFor& client_for) {
  for (const std::string& text : options.controllers) {
    const Word word = Read(text);
    if (text == "*" || IsOneOf(word.name)) continue;
    if (!IsNotYet(word.name)) {
      return Status::BadRequest(Quote(text) + " is not in the list of known controllers");
    }
    if (!word.off) {
      COX_WARNING(manager.context().log(), "Controller is not implemented",
                  {"controller", word.name});
    }
  }
  Options completed = options;
  // The view's client writes as the account of the controller, which may not list Leases.
  if (completed.node_lifecycle.reader == nullptr) {
    completed.node_lifecycle.reader = &manager.client();
  }
  GaugeVec& running =
      manager.metrics().AddGaugeVec({.name = "running_managed_controllers",
                                     .help = "1 for each controller that runs in this process.",
                                     .stability = Stability::kBeta},
                                    {"name", "manager"});
  for (const ControllerInfo& controller : kControllers) {
    if (!IsEnabled(controller, options.controllers)) continue;
    std::shared_ptr<Client> client;
    if (client_for != nullptr) {
      COX_ASSIGN_OR_RETURN(client, client_for(controller.account));
    }
    const std::string_view reporter =
        controller.reporter.empty() ? controller.name : controller.reporter;
    const auto view =
        std::make_shared<ControllerView>(manager, std::string(reporter), std::move(client),
                                         running.With({controller.name, kManagerName}));
    COX_RETURN_IF_ERROR(controller.add(*view, completed));
  }
  return {};
}

}  // namespace cox::controllers
