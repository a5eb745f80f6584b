// SPDX-License-Identifier: Apache-2.0
// Objects of any kind: names, copies, equality, defaults, owner references.
#include "object/object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/codec.h"
#include "object/defaults.h"
#include "object/owner.h"
#include "object/scheme.h"
#include "object/type/equal.h"

namespace cox {
namespace {

TEST(GroupVersion, ParsesLikeUpstream) {
  EXPECT_EQ(*GroupVersion::Parse("v1"), (GroupVersion{"", "v1"}));
  EXPECT_EQ(*GroupVersion::Parse("apps/v1"), (GroupVersion{"apps", "v1"}));
  EXPECT_EQ(*GroupVersion::Parse(""), GroupVersion{});
  EXPECT_EQ(*GroupVersion::Parse("/"), GroupVersion{});
  EXPECT_EQ(GroupVersion::Parse("a/b/c").status().message(),
            "unexpected GroupVersion string: a/b/c");
  EXPECT_EQ((GroupVersion{"", "v1"}).ToString(), "v1");
  EXPECT_EQ((GroupVersion{"apps", "v1"}).ToString(), "apps/v1");
}

TEST(Scheme, FindsKindsAndResources) {
  const Scheme& scheme = Scheme::Builtin();
  EXPECT_EQ(scheme.FindKind({"apps", "v1", "Deployment"}), &apps::v1::Deployment::kKind);
  EXPECT_EQ(scheme.FindKind({"apps", "v1", "Pod"}), nullptr);
  EXPECT_EQ(scheme.FindResource({"", "v1", "pods"}), &core::v1::Pod::kKind);
  // Options belong to every existing group version, and to no other.
  EXPECT_NE(scheme.FindKind({"apps", "v1", "DeleteOptions"}), nullptr);
  EXPECT_EQ(scheme.FindKind({"nope", "v1", "DeleteOptions"}), nullptr);
}

TEST(Scheme, MapsPluralSingularAndShortNames) {
  const Scheme& scheme = Scheme::Builtin();
  struct {
    GroupVersionResource typed;
    const char* gvr;
  } cases[] = {
      {{"", "", "po"}, "/v1, Resource=pods"},
      {{"", "", "pod"}, "/v1, Resource=pods"},
      {{"", "", "deploy"}, "apps/v1, Resource=deployments"},
      {{"", "", "hpa"}, "autoscaling/v2, Resource=horizontalpodautoscalers"},
      {{"autoscaling", "v1", "hpa"}, "autoscaling/v1, Resource=horizontalpodautoscalers"},
      {{"", "", "events"}, "/v1, Resource=events"},
      {{"events.k8s.io", "", "ev"}, "events.k8s.io/v1, Resource=events"},
  };
  for (const auto& c : cases) {
    auto mapping = scheme.MappingForResource(c.typed);
    ASSERT_TRUE(mapping.ok()) << c.gvr << mapping.status().message();
    EXPECT_EQ(mapping->gvr.ToString(), c.gvr);
  }
  EXPECT_EQ(scheme.MappingForResource({"", "", "foos"}).status().message(),
            "no matches for /, Resource=foos");
  EXPECT_EQ(scheme.MappingForKind({"a", "v1", "Foo"}).status().message(),
            "no matches for kind \"Foo\" in version \"a/v1\"");
  EXPECT_TRUE(scheme.MappingForKind({"", "v1", "Pod"})->namespaced);
  EXPECT_FALSE(scheme.MappingForKind({"", "v1", "Node"})->namespaced);
}

TEST(KindInfo, HasTheDataOfDiscovery) {
  const KindInfo& pod = core::v1::Pod::kKind;
  EXPECT_EQ(pod.plural, "pods");
  EXPECT_THAT(pod.categories, testing::ElementsAre("all"));
  EXPECT_THAT(pod.short_names, testing::ElementsAre("po"));
  std::vector<std::string_view> names;
  for (const SubresourceInfo& sub : pod.subresources) names.push_back(sub.name);
  EXPECT_THAT(names,
              testing::IsSupersetOf({"binding", "eviction", "log", "exec", "status", "resize"}));
  EXPECT_FALSE(core::v1::PodList::kKind.IsResource());
}

TEST(GuessPlural, FollowsEnglishRules) {
  EXPECT_EQ(GuessPlural("Pod"), "pods");
  EXPECT_EQ(GuessPlural("Ingress"), "ingresses");
  EXPECT_EQ(GuessPlural("NetworkPolicy"), "networkpolicies");
  EXPECT_EQ(GuessPlural("Endpoints"), "endpoints");
  EXPECT_EQ(GuessPlural(""), "");
}

TEST(Object, HoldsTypedAndDynamicObjects) {
  Object typed = Object::Of(core::v1::ConfigMap{.metadata = {.name = "m"}, .data = {{"k", "v"}}});
  EXPECT_EQ(typed.gvk().ToString(), "/v1, Kind=ConfigMap");
  EXPECT_EQ(typed.object_meta()->name, "m");
  EXPECT_EQ(typed.As<core::v1::Pod>(), nullptr);
  Object custom({"example.com", "v1", "Network"}, types::kAny,
                Value::MakeObject({{"spec", Value::MakeObject({{"cidr", "x"}})}}));
  EXPECT_EQ(custom.object_meta(), nullptr);
  EXPECT_EQ(json::Write(custom.ToValue()),
            R"({"apiVersion":"example.com/v1","kind":"Network","spec":{"cidr":"x"}})");
  std::string text;
  EncodeObject(custom, Format::kJson, &text);
  EXPECT_EQ(text,
            "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Network\",\"spec\":{\"cidr\":\"x\"}}\n");

  Object copy = typed;
  copy.object_meta()->name = "other";
  EXPECT_FALSE(copy == typed);
  EXPECT_EQ(typed.object_meta()->name, "m");
  Object moved = std::move(copy);
  EXPECT_EQ(moved.object_meta()->name, "other");
  EXPECT_FALSE(typed == custom);
}

TEST(Object, FromValueReplacesTheObjectOnlyOnSuccess) {
  Object object = Object::Of(core::v1::ConfigMap{.metadata = {.name = "m"}});
  EXPECT_FALSE(object.FromValue(Value::MakeObject({{"metadata", 1}})).ok());
  EXPECT_EQ(object.object_meta()->name, "m");
  EXPECT_TRUE(
      object.FromValue(Value::MakeObject({{"data", Value::MakeObject({{"a", "b"}})}})).ok());
  EXPECT_EQ(object.object_meta()->name, "");
}

TEST(Codec, ErrorsNameTheMissingField) {
  const Scheme& scheme = Scheme::Builtin();
  auto error = [&](std::string_view text) {
    return DecodeObject(text, Format::kJson, scheme).status().message();
  };
  EXPECT_EQ(error(R"({"apiVersion":"v1"})"),
            R"(Object 'Kind' is missing in '{"apiVersion":"v1"}')");
  EXPECT_EQ(error(R"({"kind":"Pod"})"), R"(Object 'apiVersion' is missing in '{"kind":"Pod"}')");
  EXPECT_THAT(error(R"({"kind":"Foo","apiVersion":"v1"})"),
              testing::StartsWith(R"(no kind "Foo" is registered for version "v1")"));
  EXPECT_EQ(error("{"),
            "couldn't get version/kind; json parse error: unexpected end of JSON input");
  GroupVersionKind pod{"", "v1", "Pod"};
  auto object = DecodeObject(R"({"metadata":{"name":"p"}})", Format::kJson, scheme, &pod);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->gvk(), pod);
}

TEST(Codec, DetectsTheFormat) {
  EXPECT_EQ(SniffFormat(" \n{"), Format::kJson);
  EXPECT_EQ(SniffFormat("a: b"), Format::kYaml);
  EXPECT_EQ(SniffFormat(std::string_view("k8s\0", 4)), Format::kProtobuf);
  EXPECT_EQ(SniffFormat(""), Format::kYaml);
}

TEST(DeepEqual, ComparesSemantically) {
  core::v1::ResourceRequirements a{.limits = {{"memory", *Quantity::Parse("1Gi")}}};
  core::v1::ResourceRequirements b{.limits = {{"memory", *Quantity::Parse("1024Mi")}}};
  EXPECT_TRUE(DeepEqual(a, b));
  b.limits["cpu"] = Quantity(1);
  EXPECT_FALSE(DeepEqual(a, b));

  core::v1::Volume v{.name = "v"};
  core::v1::Volume w = v;
  w.volumeSource.emptyDir.emplace();
  EXPECT_FALSE(DeepEqual(v, w));  // a difference inside an inlined struct counts
  v.volumeSource.emptyDir.emplace();
  EXPECT_TRUE(DeepEqual(v, w));
  v.volumeSource.emptyDir->medium = "Memory";
  EXPECT_FALSE(DeepEqual(v, w));

  core::v1::PodSpec zero;
  core::v1::PodSpec set;
  set.terminationGracePeriodSeconds = 0;
  EXPECT_FALSE(DeepEqual(zero, set));
}

TEST(Defaults, AreSetOnlyInPresentStructs) {
  core::v1::PodSpec spec{
      .containers = {{.name = "c",
                      .ports = {{.containerPort = 80}, {.containerPort = 53, .protocol = "UDP"}}}}};
  ApplyDefaults(&spec);
  EXPECT_EQ(spec.containers[0].ports[0].protocol, "TCP");
  EXPECT_EQ(spec.containers[0].ports[1].protocol, "UDP");
  EXPECT_FALSE(spec.securityContext);

  core::v1::ReplicationControllerSpec controller;
  ApplyDefaults(&controller);
  EXPECT_EQ(controller.replicas, 1);
  controller.replicas = 0;
  ApplyDefaults(&controller);
  EXPECT_EQ(controller.replicas, 0);

  // Also below inlined structs and boxes.
  core::v1::Volume volume;
  volume.volumeSource.rbd.emplace();
  ApplyDefaults(&volume);
  EXPECT_EQ(volume.volumeSource.rbd->pool, "rbd");
}

TEST(Defaults, EveryDefaultCanBeDecoded) {
  // Applies every default of the tables; ApplyDefaults checks that it can be decoded.
  int seen = 0;
  for (const KindInfo* kind : AllKinds()) {
    for (const Field& field : kind->type->fields) seen += field.default_json.empty() ? 0 : 1;
    Object object(*kind);
    ApplyDefaults(object.type(), object.data());
  }
  EXPECT_GE(seen, 0);
}

TEST(Owners, ControllerAndFinalizers) {
  meta::v1::ObjectMeta set{.name = "rs", .uid = "u1"};
  meta::v1::ObjectMeta pod;
  EXPECT_EQ(GetControllerOf(pod), nullptr);
  EXPECT_TRUE(
      SetOwnerReference(&pod, {.apiVersion = "v1", .kind = "Node", .name = "n", .uid = "u0"}));
  EXPECT_TRUE(SetOwnerReference(&pod, ControllerRef(apps::v1::ReplicaSet::kKind, set)));
  EXPECT_FALSE(SetOwnerReference(&pod, ControllerRef(apps::v1::ReplicaSet::kKind, set)));
  ASSERT_EQ(pod.ownerReferences.size(), 2u);
  EXPECT_EQ(pod.ownerReferences[1].apiVersion, "apps/v1");
  EXPECT_EQ(GetControllerOf(pod)->name, "rs");
  EXPECT_TRUE(IsControlledBy(pod, "u1"));
  EXPECT_FALSE(IsControlledBy(pod, "u0"));
  EXPECT_TRUE(RemoveOwnerReference(&pod, "u1"));
  EXPECT_FALSE(RemoveOwnerReference(&pod, "u1"));

  EXPECT_TRUE(AddFinalizer(&pod, "a"));
  EXPECT_TRUE(AddFinalizer(&pod, "b"));
  EXPECT_FALSE(AddFinalizer(&pod, "a"));
  EXPECT_TRUE(RemoveFinalizer(&pod, "a"));
  EXPECT_FALSE(HasFinalizer(pod, "a"));
  EXPECT_TRUE(HasFinalizer(pod, "b"));
}

}  // namespace
}  // namespace cox
