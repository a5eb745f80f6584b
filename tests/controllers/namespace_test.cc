// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/namespace/namespace_controller.h"

#include "coxswain/conditions.h"
#include "harness.h"
#include "object/owner.h"

namespace cox::controllers {
namespace {

using core::v1::ConfigMap;
using core::v1::Namespace;
using core::v1::Pod;
using core::v1::Secret;
using std::chrono::seconds;
using testkit::WaitFor;

class NamespaceControllerTest : public ControllerTest {
 protected:
  NamespaceControllerTest() { clock.emplace(); }

  ConfigMap CreateMap(const std::string& name, List<std::string> finalizers = {}) {
    ConfigMap map;
    map.metadata = {.name = name, .namespace_ = "a"};
    map.metadata.finalizers = std::move(finalizers);
    return Create(std::move(map));
  }
  Pod CreatePod(const std::string& node) {
    Pod pod;
    pod.metadata = {.name = "web", .namespace_ = "a"};
    pod.spec.containers = {{.name = "c", .image = "nginx"}};
    pod.spec.nodeName = node;
    return Create(std::move(pod));
  }
  void DeleteNamespace() {
    const Status deleted = client().Delete<Namespace>(*ctx, {"", "a"});
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
  }
  // Waits until the controller reports remaining content.
  Namespace AwaitRemaining() {
    const auto waiting = WaitFor<Namespace>(*ctx, client(), {"", "a"}, [](const Namespace& ns) {
      return IsTrue(ns.status.conditions, "NamespaceContentRemaining");
    });
    EXPECT_TRUE(waiting.ok()) << waiting.status().ToString();
    return waiting.ok() ? *waiting : Namespace();
  }
  static std::string Message(const Namespace& ns, std::string_view type) {
    const auto* condition = FindCondition(ns.status.conditions, type);
    return condition == nullptr ? "" : condition->message;
  }
};

TEST_F(NamespaceControllerTest, ContentIsDeletedBeforeNamespace) {
  CreateNamespace("a");
  CreateMap("one");
  Secret secret;
  secret.metadata = {.name = "two", .namespace_ = "a"};
  Create(std::move(secret));
  DeleteNamespace();
  Start({AddNamespaceController});
  AwaitGone<Namespace>({"", "a"});
  EXPECT_FALSE(Exists<ConfigMap>({"a", "one"}));
  EXPECT_FALSE(Exists<Secret>({"a", "two"}));
}

TEST_F(NamespaceControllerTest, ContentOfKindAddedLaterIsDeleted) {
  CreateNamespace("a");
  Start({AddNamespaceController});
  ServeWidgets();
  CreateWidget({"a", "one"});
  DeleteNamespace();
  AwaitGone<Namespace>({"", "a"});
  EXPECT_TRUE(client().Get(*ctx, Widgets(), {"a", "one"}).status().Is(Reason::kNotFound));
}

TEST_F(NamespaceControllerTest, ObjectsWithFinalizersAreReportedAndAwaited) {
  CreateNamespace("a");
  ConfigMap map = CreateMap("held", {"example.com/hold"});
  CreateMap("free");
  Start({AddNamespaceController});
  DeleteNamespace();
  const Namespace waiting = AwaitRemaining();
  EXPECT_EQ(Message(waiting, "NamespaceContentRemaining"),
            "Some resources are remaining: configmaps. has 1 resource instances");
  EXPECT_EQ(Message(waiting, "NamespaceFinalizersRemaining"),
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 "
            "resource instances");
  EXPECT_FALSE(Exists<ConfigMap>({"a", "free"}));
  ASSERT_TRUE(client()
                  .PatchObject<ConfigMap>(*ctx, {"a", "held"},
                                          Patch::Merge(R"({"metadata":{"finalizers":null}})"))
                  .ok());
  AwaitGone<Namespace>({"", "a"});
}

TEST_F(NamespaceControllerTest, PodsAreDeletedFirst) {
  CreateNamespace("a");
  CreateMap("used");
  CreatePod("node-1");
  Start({AddNamespaceController});
  DeleteNamespace();
  const Namespace waiting = AwaitRemaining();
  EXPECT_EQ(Message(waiting, "NamespaceContentRemaining"),
            "Some resources are remaining: pods. has 1 resource instances");
  EXPECT_TRUE(Exists<ConfigMap>({"a", "used"})) << "the Pod may still use it";
  // Like a kubelet after the containers have terminated; no grace period is awaited then.
  ASSERT_TRUE(client().Delete<Pod>(*ctx, {"a", "web"}, {.grace_period = seconds(0)}).ok());
  AwaitGone<Namespace>({"", "a"});
  EXPECT_FALSE(Exists<ConfigMap>({"a", "used"}));
}

TEST_F(NamespaceControllerTest, OtherFinalizersKeepTheNamespace) {
  Namespace ns;
  ns.metadata.name = "a";
  ns.spec.finalizers = {"example.com/mine"};
  Create(std::move(ns));
  Start({AddNamespaceController});
  DeleteNamespace();
  const auto left = WaitFor<Namespace>(*ctx, client(), {"", "a"}, [](const Namespace& is) {
    return is.spec.finalizers == std::vector<std::string>{"example.com/mine"};
  });
  EXPECT_TRUE(left.ok()) << left.status().ToString();
}

}  // namespace
}  // namespace cox::controllers
