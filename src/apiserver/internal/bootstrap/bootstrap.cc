// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/bootstrap/bootstrap.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "api/core/v1.h"
#include "api/scheduling/v1.h"
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"
#include "apiserver/filters/fairness/flow_control.h"
#include "apiserver/internal/bootstrap/api_services.h"
#include "apiserver/internal/controllers/internal_client.h"
#include "apiserver/registry/kinds/core/service/alloc/ip_range.h"
#include "base/scope.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kManager = "kube-apiserver";
constexpr std::string_view kFlowProducer = "api-priority-and-fairness-config-producer-v1";
// Concurrent writes: etcd commits many of them in one disk sync.
constexpr size_t kWriters = 16;

constexpr std::string_view kNamespaces[] = {"default", "kube-system", "kube-public",
                                            "kube-node-lease"};
struct SystemPriority {
  std::string_view name;
  int32_t value;
  std::string_view description;
};
// Above the range that users may use.
constexpr SystemPriority kSystemPriorities[] = {
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their current node."},
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node "
     "if necessary."},
};

// A write. The tasks of one list do not depend on each other.
using Task = std::function<Status(Context& ctx, const InternalClient& writer)>;
using Tasks = std::vector<Task>;

template <class T>
Task EnsureTask(T object, std::string_view manager = kManager,
                InternalClient::MutateFunc mutate = nullptr) {
  return [object = Object::Of(std::move(object)), manager, mutate = std::move(mutate)](
             Context& ctx, const InternalClient& writer) {
    return writer.Ensure(ctx, object, manager, mutate);
  };
}

// Runs all `tasks` concurrently. Returns the first error, if any.
Status RunAll(Context& ctx, const InternalClient& writer, const Tasks& tasks) {
  std::atomic<size_t> next = 0;
  std::vector<Status> results(std::min(kWriters, tasks.size()));
  {
    Scope scope(ctx, "bootstrap");
    for (Status& result : results) {
      COX_RETURN_IF_ERROR(scope.Go("writer", [&](Context& writer_ctx) {
        for (size_t i = next++; i < tasks.size() && result.ok(); i = next++) {
          result = tasks[i](writer_ctx, writer);
        }
      }));
    }
    scope.Wait();
  }
  for (const Status& result : results) COX_RETURN_IF_ERROR(result);
  return {};
}

// Appends the elements of `wanted` that are missing in `have`; true if there were any.
template <class T>
bool AddMissing(const List<T>& wanted, List<T>& have) {
  const size_t before = have.size();
  for (const T& each : wanted) {
    const bool there =
        std::any_of(have.begin(), have.end(), [&](const T& one) { return DeepEqual(one, each); });
    if (!there) have.push_back(each);
  }
  return have.size() != before;
}

bool MayUpdate(const meta::v1::ObjectMeta& meta) {
  const std::string* says = meta.annotations.Get(kAutoUpdate);
  return says == nullptr || *says != "false";
}

// Existing roles and bindings keep the changes of administrators, and get the missing rules and
// subjects.
template <class T>
InternalClient::MutateFunc UpdateRole(T wanted) {
  return [wanted = std::move(wanted)](Object& existing) {
    T& role = *existing.As<T>();
    if (!MayUpdate(role.metadata)) return false;
    bool changed = false;
    if constexpr (requires { role.aggregationRule; }) {
      // A controller collects the rules of aggregated roles.
      if (wanted.aggregationRule) {
        return AddMissing(wanted.aggregationRule->clusterRoleSelectors,
                          role.aggregationRule.ensure().clusterRoleSelectors);
      }
    }
    if constexpr (requires { role.rules; }) changed = AddMissing(wanted.rules, role.rules);
    if constexpr (requires { role.subjects; }) {
      // A binding to another role belongs to an administrator.
      if (!DeepEqual(wanted.roleRef, role.roleRef)) return false;
      changed = AddMissing(wanted.subjects, role.subjects);
    }
    return changed;
  };
}

template <class T>
InternalClient::MutateFunc UpdateFlowControl(T wanted) {
  return [wanted = std::move(wanted)](Object& existing) {
    T& object = *existing.As<T>();
    const std::string* says = object.metadata.annotations.Get(kAutoUpdateSpec);
    if (says == nullptr || *says != "true" || DeepEqual(wanted.spec, object.spec)) return false;
    object.spec = wanted.spec;
    return true;
  };
}

template <class T>
Tasks FlowControlTasks(const List<T>& objects) {
  Tasks tasks;
  for (const T& object : objects) {
    tasks.push_back(EnsureTask(object, kFlowProducer, UpdateFlowControl(object)));
  }
  return tasks;
}

// Combines tasks into one that runs them in order.
Task InOrder(Tasks tasks) {
  return [tasks = std::move(tasks)](Context& ctx, const InternalClient& writer) -> Status {
    for (const Task& task : tasks) COX_RETURN_IF_ERROR(task(ctx, writer));
    return {};
  };
}

template <class T>
void AddRoles(List<T> roles, Tasks& tasks) {
  for (T& role : roles) tasks.push_back(EnsureTask(role, kManager, UpdateRole(role)));
}

Tasks GeneralTasks() {
  Tasks tasks;
  for (std::string_view name : kNamespaces) {
    core::v1::Namespace ns;
    ns.metadata.name = name;
    tasks.push_back(EnsureTask(std::move(ns)));
  }
  tasks.push_back(InOrder(FlowControlTasks(BootstrapPriorityLevels())));
  tasks.push_back(InOrder(FlowControlTasks(BootstrapFlowSchemas())));
  for (const auto& service : LocalApiServices()) {
    tasks.push_back(EnsureTask(service, kManager, [service](Object& existing) {
      auto& object = *existing.As<apiregistration::v1::APIService>();
      if (DeepEqual(object.spec, service.spec)) return false;
      object.spec = service.spec;
      return true;
    }));
  }
  return tasks;
}

Tasks PriorityTasks() {
  Tasks tasks;
  for (const SystemPriority& priority : kSystemPriorities) {
    scheduling::v1::PriorityClass object;
    object.metadata.name = priority.name;
    object.value = priority.value;
    object.description = priority.description;
    tasks.push_back(EnsureTask(std::move(object)));
  }
  return tasks;
}

Tasks RbacTasks() {
  Tasks tasks;
  RbacPolicy policy = BootstrapPolicy();
  AddRoles(std::move(policy.cluster_roles), tasks);
  AddRoles(std::move(policy.cluster_role_bindings), tasks);
  AddRoles(std::move(policy.roles), tasks);
  AddRoles(std::move(policy.role_bindings), tasks);
  return tasks;
}

// The Service that Pods use to reach the API, at the first address of the range.
core::v1::Service ApiService(const BootstrapOptions& options) {
  core::v1::Service service;
  service.metadata.name = "kubernetes";
  service.metadata.namespace_ = "default";
  service.metadata.labels["component"] = "apiserver";
  service.metadata.labels["provider"] = "kubernetes";
  service.spec.type = "ClusterIP";
  if (const std::optional<IpRange> range = IpRange::Parse(options.service_cluster_ip_range)) {
    service.spec.clusterIP = range->At(0).ToString();
  }
  core::v1::ServicePort& https = service.spec.ports.emplace_back();
  https.name = "https";
  https.port = 443;
  https.protocol = "TCP";
  https.targetPort = IntOrString(options.port);
  return service;
}

}  // namespace

Status WriteBootstrapObjects(Context& ctx, const Registry& registry,
                             const BootstrapOptions& options) {
  const InternalClient writer(registry, options.admission);
  // In this order: later objects refer to earlier ones.
  COX_RETURN_IF_ERROR(RunAll(ctx, writer, GeneralTasks()));
  for (const Task& task : PriorityTasks()) COX_RETURN_IF_ERROR(task(ctx, writer));
  COX_RETURN_IF_ERROR(RunAll(ctx, writer, RbacTasks()));
  return RunAll(ctx, writer, {EnsureTask(ApiService(options))});
}

}  // namespace cox::apiserver
