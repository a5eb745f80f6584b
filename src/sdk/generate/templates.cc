// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/templates.h"

namespace cox::sdk {
namespace {

constexpr Template kCommon[] = {
    {"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
find_package(Coxswain REQUIRED)

add_library(@NS@ STATIC @SOURCES@)
target_include_directories(@NS@ PUBLIC src)
target_link_libraries(@NS@ PUBLIC Coxswain::sdk)
@CRDS@
add_executable(@NAME@ src/main.cc)
target_link_libraries(@NAME@ PRIVATE @NS@)
coxswain_precompile(@NS@ @NAME@)

include(CTest)
if(BUILD_TESTING)
  add_executable(@NS@_test tests/reconciler_test.cc)
  target_link_libraries(@NS@_test PRIVATE @TEST_LIBRARIES@)
  coxswain_precompile(@NS@_test)
  add_test(NAME @NS@_test COMMAND @NS@_test)
endif()
)"},
    {"src/main.cc", R"(@INCLUDE@ "reconciler.h"

int main(int argc, char** argv) {
  return cox::RunOperator(argc, argv,
                          {.name = "@NAME@", .description = "@DESCRIPTION@"},
                          @NS@::SetUp);
}
)"},
    {"deploy/rbac.yaml", R"(apiVersion: v1
kind: ServiceAccount
metadata: {name: @NAME@, namespace: @NAME@}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: @NAME@}
rules:
- apiGroups: ["@RBAC_GROUP@"]
  resources: [@RBAC_RESOURCES@]
  verbs: [get, list, watch, update, patch]
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: @NAME@}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: @NAME@}
subjects: [{kind: ServiceAccount, name: @NAME@, namespace: @NAME@}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: @NAME@-leader, namespace: @NAME@}
rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get, create, update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: @NAME@-leader, namespace: @NAME@}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: @NAME@-leader}
subjects: [{kind: ServiceAccount, name: @NAME@, namespace: @NAME@}]
)"},
    {"deploy/operator.yaml", R"(apiVersion: v1
kind: Namespace
metadata: {name: @NAME@}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: @NAME@, namespace: @NAME@}
spec:
  replicas: 2
  selector: {matchLabels: {app: @NAME@}}
  template:
    metadata: {labels: {app: @NAME@}}
    spec:
      serviceAccountName: @NAME@
      securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: manager
        image: @NAME@:latest
        args: [--leader-elect]
        ports: [{name: metrics, containerPort: 8080}, {name: probes, containerPort: 8081}]
        livenessProbe: {httpGet: {path: /healthz, port: probes}}
        readinessProbe: {httpGet: {path: /readyz, port: probes}}
        resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 64Mi}}
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
)"},
    {".gitignore", "build/\n"},
};

constexpr std::pair<std::string_view, std::string_view> kConfigMapParts[] = {
    {"@SOURCES@", "src/reconciler.cc"},
    {"@CRDS@", ""},
    {"@TEST_LIBRARIES@", "@NS@ Coxswain::testkit"},
    {"@DESCRIPTION@", "Counts the entries of ConfigMaps."},
    {"@RBAC_GROUP@", ""},
    {"@RBAC_RESOURCES@", "configmaps"},
};

constexpr Template kConfigMapFiles[] = {
    {"README.md", R"(# @NAME@

Watches ConfigMaps with the label `@NAME@/enabled: "true"` and writes the number of their entries into an annotation.
Replace this logic in `src/reconciler.cc` by that of your operator.

    cmake -B build && cmake --build build && ctest --test-dir build   # -DCMAKE_PREFIX_PATH=... if the SDK is elsewhere
    build/@NAME@ --kubeconfig ~/.kube/config          # runs locally; --help lists the flags
    kubectl apply -f deploy/                          # runs in the cluster; requires an image
)"},
    {"src/reconciler.h", R"(#pragma once

#include <optional>
#include <string>

@INCLUDE@ "api/core/v1.h"
@INCLUDE@ "coxswain/manager.h"

namespace @NS@ {

inline constexpr char kLabel[] = "@NAME@/enabled";
inline constexpr char kAnnotation[] = "@NAME@/entries";

// Returns the desired annotation of a ConfigMap; none if the label is not "true". A pure function.
std::optional<std::string> Desired(const cox::core::v1::ConfigMap& map);

class Reconciler final : public cox::Reconciler {
 public:
  explicit Reconciler(cox::Manager& manager);
  cox::Result<cox::ReconcileResult> Reconcile(cox::Context& ctx, const cox::ObjectKey& key) override;

 private:
  cox::Client& client_;
  cox::Lister<cox::core::v1::ConfigMap> maps_;
};

// Registers the controller.
cox::Status SetUp(cox::Manager& manager);

}  // namespace @NS@
)"},
    {"src/reconciler.cc", R"(@INCLUDE@ "reconciler.h"

namespace @NS@ {

using cox::core::v1::ConfigMap;

std::optional<std::string> Desired(const ConfigMap& map) {
  const std::string* enabled = map.metadata.labels.Get(kLabel);
  if (enabled == nullptr || *enabled != "true") return std::nullopt;
  return std::to_string(map.data.size() + map.binaryData.size());
}

Reconciler::Reconciler(cox::Manager& manager)
    : client_(manager.client()), maps_(manager.cache().ListerOf<ConfigMap>()) {}

cox::Result<cox::ReconcileResult> Reconciler::Reconcile(cox::Context& ctx,
                                                        const cox::ObjectKey& key) {
  const std::shared_ptr<const ConfigMap> map = maps_.Get(key);
  if (map == nullptr) return cox::ReconcileResult::Done();  // deleted
  const std::optional<std::string> desired = Desired(*map);
  const std::string* actual = map->metadata.annotations.Get(kAnnotation);
  if (!desired || (actual != nullptr && *actual == *desired)) return cox::ReconcileResult::Done();
  ConfigMap changed = *map;
  changed.metadata.annotations[kAnnotation] = *desired;
  COX_RETURN_IF_ERROR(client_.Update(ctx, std::move(changed)).status());
  return cox::ReconcileResult::Done();
}

cox::Status SetUp(cox::Manager& manager) {
  return cox::ControllerFor<ConfigMap>(manager).Named("@NAME@").Complete(
      std::make_unique<Reconciler>(manager));
}

}  // namespace @NS@
)"},
    {"tests/reconciler_test.cc", R"(@INCLUDE@ "reconciler.h"

#include <cstdio>
#include <cstdlib>

@INCLUDE@ "base/scope.h"
@INCLUDE@ "testkit/test_cluster.h"
@INCLUDE@ "testkit/wait.h"

// Starts a real API server in this process; no cluster is needed.
int main() {
  using cox::core::v1::ConfigMap;
  const auto check = [](bool ok, const char* what) {
    std::printf("%s: %s\n", ok ? "ok" : "FAILED", what);
    if (!ok) std::exit(1);
  };
  ConfigMap map{.metadata = {.name = "m", .namespace_ = "default"}};
  check(!@NS@::Desired(map), "ConfigMaps without the label are ignored");
  map.metadata.labels[@NS@::kLabel] = "true";
  map.data["a"] = "1";
  check(@NS@::Desired(map) == "1", "entries are counted");

  auto cluster = cox::testkit::TestCluster::Start();
  check(cluster.ok(), "the API server starts");
  cox::Context ctx = (*cluster)->context().WithTimeout(std::chrono::seconds(60));
  auto manager = cox::Manager::Create(ctx, (*cluster)->ClientFor("admin", {"system:masters"}),
                                      {.metrics_address = "0", .health_address = "0"});
  check(manager.ok() && @NS@::SetUp(**manager).ok(), "the controller is registered");
  cox::Scope scope(ctx, "test");
  check(scope.Go("manager", [&](cox::Context& inner) { (void)(*manager)->Run(inner); }).ok(),
        "the manager runs");
  check((*cluster)->client().Create(ctx, map).ok(), "the ConfigMap is created");
  const auto counted = [](const ConfigMap& now) {
    const std::string* count = now.metadata.annotations.Get(@NS@::kAnnotation);
    return count != nullptr && *count == "1";
  };
  check(cox::testkit::WaitFor<ConfigMap>(ctx, (*cluster)->client(), {"default", "m"}, counted).ok(),
        "the ConfigMap is annotated");
  scope.Stop();
  scope.Wait();
}
)"},
};

constexpr std::pair<std::string_view, std::string_view> kCustomKindParts[] = {
    {"@SOURCES@", "src/@FILE@.cc src/reconciler.cc"},
    {"@CRDS@", R"(# Generates deploy/crds.yaml in the build folder from the structs.
coxswain_crds(@NS@_crds LIBRARY @NS@ HEADERS @FILE@.h KINDS @NS@::@KIND@ OUTPUT deploy/crds.yaml)
)"},
    {"@TEST_LIBRARIES@", "@NS@"},
    {"@DESCRIPTION@", "Reconciles @KIND@ objects."},
    {"@RBAC_GROUP@", "@GROUP@"},
    {"@RBAC_RESOURCES@", "@PLURAL@, @PLURAL@/status"},
};

constexpr Template kCustomKindFiles[] = {
    {"README.md", R"(# @NAME@

The kind `@KIND@` (@GROUP@/@VERSION@) and its controller. The kind is in `src/@FILE@.h`, the logic of the controller in
`src/reconciler.cc`.

    cmake -B build && cmake --build build && ctest --test-dir build   # -DCMAKE_PREFIX_PATH=... if the SDK is elsewhere
    kubectl apply -f build/deploy/crds.yaml           # generated from the structs
    build/@NAME@ --kubeconfig ~/.kube/config          # runs locally; --help lists the flags
    kubectl apply -f deploy/                          # runs in the cluster; requires an image
)"},
    {"src/@FILE@.h", R"(#pragma once

#include <optional>
#include <string>
#include <vector>

@INCLUDE@ "coxswain/custom_resource.h"

namespace @NS@ {

// The desired state.
struct @KIND@Spec {
  std::string message;

  static const cox::Type kType;
};

// The observed state.
struct @KIND@Status {
  int64_t observedGeneration = 0;
  cox::List<cox::meta::v1::Condition> conditions;

  static const cox::Type kType;
};

struct @KIND@ {
  cox::meta::v1::ObjectMeta metadata;
  @KIND@Spec spec;
  @KIND@Status status;

  static const cox::Type kType;
  static const cox::KindInfo kKind;
};

}  // namespace @NS@
)"},
    {"src/@FILE@.cc", R"(@INCLUDE@ "@FILE@.h"

namespace @NS@ {

COX_STRUCT(@KIND@Spec, "The desired state.", COX_FIELD(message).Required().MinLength(1))
COX_STRUCT(@KIND@Status, "The observed state.", COX_FIELD(observedGeneration),
           COX_FIELD(conditions).ListMap({"type"}))
COX_KIND(@KIND@,
         (cox::KindOptions{.group = "@GROUP@",
                           .version = "@VERSION@",
                           .columns = {{.name = "Message", .json_path = ".spec.message"}}}),
         COX_FIELD(spec).Required(), COX_FIELD(status))

}  // namespace @NS@
)"},
    {"src/reconciler.h", R"(#pragma once

@INCLUDE@ "@FILE@.h"
@INCLUDE@ "coxswain/manager.h"

namespace @NS@ {

// Returns the desired status of a @KIND@. A pure function.
@KIND@Status Desired(const @KIND@& object, cox::Time now);

class Reconciler final : public cox::Reconciler {
 public:
  explicit Reconciler(cox::Manager& manager);
  cox::Result<cox::ReconcileResult> Reconcile(cox::Context& ctx, const cox::ObjectKey& key) override;

 private:
  cox::Client& client_;
  cox::Lister<@KIND@> objects_;
};

// Registers the controller.
cox::Status SetUp(cox::Manager& manager);

}  // namespace @NS@
)"},
    {"src/reconciler.cc", R"(@INCLUDE@ "reconciler.h"

@INCLUDE@ "coxswain/conditions.h"
@INCLUDE@ "object/codec/json/json.h"

namespace @NS@ {

@KIND@Status Desired(const @KIND@& object, cox::Time now) {
  @KIND@Status status = object.status;
  status.observedGeneration = object.metadata.generation;
  cox::SetCondition(status.conditions,
                    {.type = "Ready",
                     .status = "True",
                     .observedGeneration = object.metadata.generation,
                     .reason = "Seen",
                     .message = object.spec.message},
                    now);
  return status;
}

Reconciler::Reconciler(cox::Manager& manager)
    : client_(manager.client()), objects_(manager.cache().ListerOf<@KIND@>()) {}

cox::Result<cox::ReconcileResult> Reconciler::Reconcile(cox::Context& ctx,
                                                        const cox::ObjectKey& key) {
  const std::shared_ptr<const @KIND@> object = objects_.Get(key);
  if (object == nullptr) return cox::ReconcileResult::Done();  // deleted
  @KIND@ changed = *object;
  changed.status = Desired(*object, cox::TimeNow(ctx.clock()));
  if (cox::json::Encode(changed) == cox::json::Encode(*object)) {
    return cox::ReconcileResult::Done();
  }
  COX_RETURN_IF_ERROR(client_.UpdateStatus(ctx, std::move(changed)).status());
  return cox::ReconcileResult::Done();
}

cox::Status SetUp(cox::Manager& manager) {
  return cox::ControllerFor<@KIND@>(manager).Complete(std::make_unique<Reconciler>(manager));
}

}  // namespace @NS@
)"},
    {"tests/reconciler_test.cc", R"(@INCLUDE@ "reconciler.h"

#include <cstdio>
#include <cstdlib>

@INCLUDE@ "coxswain/conditions.h"

int main() {
  const auto check = [](bool ok, const char* what) {
    std::printf("%s: %s\n", ok ? "ok" : "FAILED", what);
    if (!ok) std::exit(1);
  };
  @NS@::@KIND@ object;
  object.metadata.generation = 2;
  object.spec.message = "hello";
  const @NS@::@KIND@Status status = @NS@::Desired(object, {});
  check(status.observedGeneration == 2, "the status contains the observed generation");
  check(cox::IsTrue(status.conditions, "Ready"), "the condition Ready is true");
  object.status = status;
  const cox::Time later = cox::Time::FromUnix(100);
  check(@NS@::Desired(object, later).conditions[0].lastTransitionTime ==
            status.conditions[0].lastTransitionTime,
        "the transition time of an unchanged condition is kept");
  const std::string crd = cox::CrdYaml(cox::CrdOf<@NS@::@KIND@>());
  check(crd.find("name: @PLURAL@.@GROUP@") != std::string::npos, "the CRD has the kind's name");
}
)"},
};

}  // namespace

std::span<const Template> CommonTemplates() { return kCommon; }

const Frame& ConfigMapFrame() {
  static constexpr Frame kFrame{kConfigMapFiles, kConfigMapParts};
  return kFrame;
}
const Frame& CustomKindFrame() {
  static constexpr Frame kFrame{kCustomKindFiles, kCustomKindParts};
  return kFrame;
}

}  // namespace cox::sdk
