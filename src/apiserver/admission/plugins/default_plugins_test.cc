// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/admission.h"

#include "api/core/v1.h"
#include "api/scheduling/v1.h"
#include "api/storage/v1.h"
#include "apiserver/admission/plugins/default_toleration_seconds/default_toleration_seconds.h"
#include "apiserver/admission/plugins/namespace_lifecycle/namespace_lifecycle.h"
#include "apiserver/admission/plugins/priority/priority.h"
#include "apiserver/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"
#include "apiserver/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

class AdmissionTest : public ::testing::Test {
 protected:
  // Calls Mutate of the plugin only.
  Status Mutate(const AdmissionPlugin& plugin, Object& object,
                Operation operation = Operation::kCreate, std::string subresource = {}) {
    return plugin.Mutate(api_.ctx(), Request(object, operation, std::move(subresource)), object);
  }
  AdmissionRequest Request(const Object& object, Operation operation,
                           std::string subresource = {}) {
    const KindInfo* kind = Scheme::Builtin().FindKind(object.gvk());
    return {.operation = operation,
            .resource = api_.registry().Hub(*kind),
            .subresource = std::move(subresource),
            .ns = object.object_meta()->namespace_,
            .name = object.object_meta()->name,
            .user = user_,
            .object = &object};
  }
  template <class T>
  static Object Named(std::string name, std::string ns = {}) {
    T object;
    object.metadata.name = std::move(name);
    object.metadata.namespace_ = std::move(ns);
    return Object::Of(std::move(object));
  }
  void Create(std::string target, std::string body) {
    FakeCall call = api_.Do({.method = "POST", .target = std::move(target), .body = body});
    ASSERT_EQ(call.exchange().status(), 201) << call.exchange().Body();
  }

  ApiHarness api_;
  const AlwaysAllow authorizer_;
  const AdmissionParts parts_{.registry = api_.registry(), .authorizer = authorizer_};
  UserInfo user_;
};

TEST_F(AdmissionTest, NamespaceLifecycleRequiresAnExistingNamespace) {
  auto plugin = NewNamespaceLifecycle(parts_);
  Object map = Named<core::v1::ConfigMap>("m", "default");
  EXPECT_TRUE(Mutate(*plugin, map).ok());
  Object lost = Named<core::v1::ConfigMap>("m", "nowhere");
  EXPECT_EQ(Mutate(*plugin, lost).message(), "namespaces \"nowhere\" not found");
  EXPECT_TRUE(Mutate(*plugin, lost, Operation::kUpdate).ok());  // updates are not checked
  Object node = Named<core::v1::Node>("n");
  EXPECT_TRUE(Mutate(*plugin, node).ok());
}

TEST_F(AdmissionTest, NamespaceLifecycleRejectsCreatesInTerminatingNamespace) {
  auto plugin = NewNamespaceLifecycle(parts_);
  Create("/api/v1/namespaces",
         R"({"metadata":{"name":"going","finalizers":["example.com/wait"]}})");
  api_.Do({.method = "DELETE", .target = "/api/v1/namespaces/going"});
  Object map = Named<core::v1::ConfigMap>("m", "going");
  api_.Sync(core::v1::Namespace::kKind);
  const Status refused = Mutate(*plugin, map);
  EXPECT_EQ(refused.message(),
            "configmaps \"m\" is forbidden: unable to create new content in namespace going "
            "because it is being terminated");
  ASSERT_EQ(refused.details().causes.size(), 1u);
  EXPECT_EQ(refused.details().causes[0].type, "NamespaceTerminating");
}

TEST_F(AdmissionTest, NamespaceLifecycleProtectsSystemNamespaces) {
  auto plugin = NewNamespaceLifecycle(parts_);
  for (std::string_view name : {"default", "kube-system", "kube-public"}) {
    const Object ns = Named<core::v1::Namespace>(std::string(name));
    EXPECT_EQ(plugin->Validate(api_.ctx(), Request(ns, Operation::kDelete)).code(), 403) << name;
    EXPECT_TRUE(plugin->Validate(api_.ctx(), Request(ns, Operation::kUpdate)).ok());
  }
  const Object mine = Named<core::v1::Namespace>("mine");
  EXPECT_TRUE(plugin->Validate(api_.ctx(), Request(mine, Operation::kDelete)).ok());
}

TEST_F(AdmissionTest, StorageObjectsGetTheProtectionFinalizer) {
  auto plugin = NewStorageObjectInUseProtection(parts_);
  Object objects[] = {Named<core::v1::PersistentVolume>("v"),
                      Named<core::v1::PersistentVolumeClaim>("c", "default"),
                      Named<storage::v1::VolumeAttributesClass>("a"),
                      Named<core::v1::ConfigMap>("m", "default")};
  const std::vector<std::string> want[] = {{"kubernetes.io/pv-protection"},
                                           {"kubernetes.io/pvc-protection"},
                                           {"kubernetes.io/vac-protection"},
                                           {}};
  for (size_t i = 0; i < std::size(objects); ++i) {
    for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(Mutate(*plugin, objects[i]).ok());
    EXPECT_EQ(objects[i].object_meta()->finalizers, want[i]);
  }
  Object volume = Named<core::v1::PersistentVolume>("v");
  EXPECT_TRUE(Mutate(*plugin, volume, Operation::kUpdate).ok());
  EXPECT_TRUE(Mutate(*plugin, volume, Operation::kCreate, "status").ok());
  EXPECT_TRUE(volume.object_meta()->finalizers.empty());
}

TEST_F(AdmissionTest, NewNodesAreTaintedOnce) {
  auto plugin = NewTaintNodesByCondition(parts_);
  Object node = Named<core::v1::Node>("n");
  for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(Mutate(*plugin, node).ok());
  const auto& taints = node.As<core::v1::Node>()->spec.taints;
  ASSERT_EQ(taints.size(), 1u);
  EXPECT_EQ(taints[0].key, "node.kubernetes.io/not-ready");
  EXPECT_EQ(taints[0].effect, "NoSchedule");
  Object old = Named<core::v1::Node>("n");
  EXPECT_TRUE(Mutate(*plugin, old, Operation::kUpdate).ok());
  EXPECT_TRUE(old.As<core::v1::Node>()->spec.taints.empty());
}

TEST_F(AdmissionTest, PodsGetDefaultTolerationSecondsUnlessTheyTolerateTheTaint) {
  auto plugin = NewDefaultTolerationSeconds(parts_);
  const struct {
    std::string_view tolerations;  // tolerations of the Pod
    size_t want;                   // number of tolerations after admission
  } kCases[] = {
      {"[]", 2},
      {R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}])", 2},
      {R"([{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}])", 3},
      {R"([{"operator":"Exists"}])", 1},
      {R"([{"key":"other"}])", 3},
  };
  for (const auto& c : kCases) {
    Object pod(core::v1::Pod::kKind);
    ASSERT_TRUE(pod.FromValue(*json::Parse(R"({"spec":{"containers":[],"tolerations":)" +
                                           std::string(c.tolerations) + "}}"))
                    .ok());
    Object updated = pod, status = pod;
    EXPECT_TRUE(Mutate(*plugin, pod).ok());
    const auto& tolerations = pod.As<core::v1::Pod>()->spec.tolerations;
    EXPECT_EQ(tolerations.size(), c.want) << c.tolerations;
    if (c.want == 2 && c.tolerations == "[]") {
      EXPECT_EQ(tolerations[0].tolerationSeconds, 300);
      EXPECT_EQ(tolerations[1].key, "node.kubernetes.io/unreachable");
    }
    EXPECT_TRUE(Mutate(*plugin, updated, Operation::kUpdate).ok());
    EXPECT_EQ(updated, pod);
    const Object unchanged = status;
    EXPECT_TRUE(Mutate(*plugin, status, Operation::kUpdate, "status").ok());
    EXPECT_EQ(status, unchanged);
  }
}

class PriorityTest : public AdmissionTest {
 protected:
  void AddClass(const std::string& name, int value, bool global_default,
                const std::string& policy = "PreemptLowerPriority") {
    Create("/apis/scheduling.k8s.io/v1/priorityclasses",
           R"({"metadata":{"name":")" + name + R"("},"value":)" + std::to_string(value) +
               R"(,"globalDefault":)" + (global_default ? "true" : "false") +
               R"(,"preemptionPolicy":")" + policy + "\"}");
    // Admission reads the cache, which lags behind storage.
    api_.Sync(scheduling::v1::PriorityClass::kKind);
  }
  static Object PodOf(const std::string& spec) {
    Object pod(core::v1::Pod::kKind);
    EXPECT_TRUE(
        pod.FromValue(*json::Parse(R"({"metadata":{"name":"p"},"spec":)" + spec + "}")).ok());
    return pod;
  }
};

TEST_F(PriorityTest, PriorityIsThatOfTheClassOrZero) {
  AddClass("high", 1000, false, "Never");
  auto plugin = NewPriority(parts_);
  Object plain = PodOf("{}");
  EXPECT_TRUE(Mutate(*plugin, plain).ok());
  EXPECT_EQ(plain.As<core::v1::Pod>()->spec.priority, 0);
  EXPECT_EQ(plain.As<core::v1::Pod>()->spec.preemptionPolicy, "PreemptLowerPriority");
  Object high = PodOf(R"({"priorityClassName":"high"})");
  EXPECT_TRUE(Mutate(*plugin, high).ok());
  EXPECT_EQ(high.As<core::v1::Pod>()->spec.priority, 1000);
  EXPECT_EQ(high.As<core::v1::Pod>()->spec.preemptionPolicy, "Never");
}

TEST_F(PriorityTest, UpdateMayOmitComputedFields) {
  auto plugin = NewPriority(parts_);
  const Object old = PodOf(R"({"priority":1000,"preemptionPolicy":"Never"})");
  const struct {
    std::string_view spec;
    int priority;
    std::string_view policy;
  } kCases[] = {{"{}", 1000, "Never"},
                {R"({"priority":7})", 7, "Never"},
                {R"({"preemptionPolicy":"PreemptLowerPriority"})", 1000, "PreemptLowerPriority"}};
  for (const auto& c : kCases) {
    Object pod = PodOf(std::string(c.spec));
    AdmissionRequest request = Request(pod, Operation::kUpdate);
    request.old = &old;
    EXPECT_TRUE(plugin->Mutate(api_.ctx(), request, pod).ok());
    EXPECT_EQ(pod.As<core::v1::Pod>()->spec.priority, c.priority);
    EXPECT_EQ(pod.As<core::v1::Pod>()->spec.preemptionPolicy, c.policy);
  }
}

TEST_F(PriorityTest, GlobalDefaultAppliesToPodsWithoutClass) {
  AddClass("b", 20, true);
  AddClass("a", 10, false);
  auto plugin = NewPriority(parts_);
  Object pod = PodOf("{}");
  EXPECT_TRUE(Mutate(*plugin, pod).ok());
  EXPECT_EQ(pod.As<core::v1::Pod>()->spec.priority, 20);
  EXPECT_EQ(pod.As<core::v1::Pod>()->spec.priorityClassName, "b");
}

TEST_F(PriorityTest, SecondGlobalDefaultIsRejected) {
  auto plugin = NewPriority(parts_);
  const auto judge = [&](const std::string& name, bool global_default, Operation operation) {
    Object priority = Named<scheduling::v1::PriorityClass>(name);
    priority.As<scheduling::v1::PriorityClass>()->globalDefault = global_default;
    return plugin->Validate(api_.ctx(), Request(priority, operation)).message();
  };
  EXPECT_EQ(judge("a", true, Operation::kCreate), "");
  AddClass("a", 10, true);
  EXPECT_EQ(judge("b", true, Operation::kCreate),
            "priorityclasses.scheduling.k8s.io \"b\" is forbidden: PriorityClass a is already "
            "marked as default. Only one default can exist");
  EXPECT_NE(judge("b", true, Operation::kUpdate), "");
  EXPECT_EQ(judge("b", false, Operation::kCreate), "");
  EXPECT_EQ(judge("a", true, Operation::kUpdate), "");
}

TEST_F(PriorityTest, PodFieldsMustMatchThePriorityClass) {
  AddClass("high", 1000, false);
  auto plugin = NewPriority(parts_);
  const struct {
    std::string_view spec, want;
  } kCases[] = {
      {R"({"priorityClassName":"none"})",
       "pods \"p\" is forbidden: no PriorityClass with name none was found"},
      {R"({"priorityClassName":"high","priority":7})",
       "pods \"p\" is forbidden: the integer value of priority (7) must not be provided in pod "
       "spec; priority admission controller computed 1000 from the given PriorityClass name"},
      {R"({"preemptionPolicy":"Never"})",
       "pods \"p\" is forbidden: the string value of PreemptionPolicy (Never) must not be provided "
       "in pod spec; priority admission controller computed PreemptLowerPriority from the given "
       "PriorityClass name"},
  };
  for (const auto& c : kCases) {
    Object pod = PodOf(std::string(c.spec));
    EXPECT_EQ(Mutate(*plugin, pod).message(), c.want);
  }
}

TEST_F(AdmissionTest, DisabledPluginsDoNotAct) {
  const AdmissionChain chain = MakeAdmission(parts_, {}, {"TaintNodesByCondition"});
  Object node = Named<core::v1::Node>("n");
  AdmissionRequest request = Request(node, Operation::kCreate);
  EXPECT_TRUE(chain.Mutate(api_.ctx(), request, node).ok());
  EXPECT_TRUE(node.As<core::v1::Node>()->spec.taints.empty());
}

// Records the calls.
class Recorder final : public AdmissionPlugin {
 public:
  Recorder(std::string name, std::vector<std::string>* log, Status answer = {})
      : name_(std::move(name)), log_(log), answer_(std::move(answer)) {}
  std::string_view name() const override { return name_; }
  Status Mutate(Context&, const AdmissionRequest& request, Object& object) const override {
    log_->push_back(name_ + " mutates");
    EXPECT_EQ(request.object, &object);
    return answer_;
  }
  Status Validate(Context&, const AdmissionRequest&) const override {
    log_->push_back(name_ + " validates");
    return answer_;
  }

 private:
  const std::string name_;
  std::vector<std::string>* const log_;
  const Status answer_;
};

TEST_F(AdmissionTest, ChainCallsPluginsInOrderAndStopsAtTheFirstError) {
  std::vector<std::string> log;
  std::vector<std::unique_ptr<const AdmissionPlugin>> plugins;
  plugins.push_back(std::make_unique<Recorder>("a", &log));
  plugins.push_back(std::make_unique<Recorder>("b", &log, Status::Forbidden("no")));
  plugins.push_back(std::make_unique<Recorder>("c", &log));
  const AdmissionChain chain(std::move(plugins));
  Object node = Named<core::v1::Node>("n");
  EXPECT_EQ(chain.Mutate(api_.ctx(), Request(node, Operation::kCreate), node).message(), "no");
  EXPECT_EQ(chain.Validate(api_.ctx(), Request(node, Operation::kCreate)).message(), "no");
  EXPECT_EQ(log,
            (std::vector<std::string>{"a mutates", "b mutates", "a validates", "b validates"}));
}

}  // namespace
}  // namespace cox::apiserver
