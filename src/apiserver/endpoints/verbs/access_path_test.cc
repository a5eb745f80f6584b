// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/access_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

class AccessPathTest : public ::testing::Test {
 protected:
  AccessPath PathOf(const KindInfo& kind, std::string_view ns, const std::string& selector) {
    const auto resource = api_.registry().Find(kind.group, kind.version, kind.plural);
    ReadOptions options;
    options.field_selector = *fields::Selector::Parse(selector);
    return AccessPathOf(*resource, ns, options);
  }
  void CreatePod(const std::string& ns, const std::string& name, const std::string& node) {
    FakeCall created =
        api_.Do({.method = "POST",
                 .target = "/api/v1/namespaces/" + ns + "/pods",
                 .body = R"({"metadata":{"name":")" + name + R"("},"spec":{"nodeName":")" + node +
                         R"(","containers":[{"name":"c","image":"i"}]}})"});
    ASSERT_EQ(created.exchange().status(), 201) << created.exchange().Body();
    api_.Sync(core::v1::Pod::kKind);
  }
  // The names of the objects in a list.
  std::string Names(const std::string& target) {
    FakeCall list = api_.Do({.target = target});
    const Result<Value> body = json::Parse(list.exchange().Body());
    std::string names;
    if (!body.ok() || body->Find("items") == nullptr) return list.exchange().Body();
    for (const Value& item : body->Find("items")->as_array()) {
      names += std::string(item.At({"metadata", "name"})->as_string()) + " ";
    }
    return names;
  }

  ApiHarness api_;
};

TEST_F(AccessPathTest, UsesTheSmallestSet) {
  const struct {
    const KindInfo& kind;
    std::string ns, selector, prefix;
    bool one_key;
    std::string field_value;
  } kCases[] = {
      {core::v1::Pod::kKind, "", "", "/registry/pods/", false, ""},
      {core::v1::Pod::kKind, "a", "", "/registry/pods/a/", false, ""},
      {core::v1::Pod::kKind, "a", "metadata.name=x", "/registry/pods/a/x", true, ""},
      {core::v1::Pod::kKind, "", "metadata.namespace=a,metadata.name=x", "/registry/pods/a/x", true,
       ""},
      {core::v1::Pod::kKind, "", "metadata.namespace=a", "/registry/pods/a/", false, ""},
      // The name can exist in every namespace.
      {core::v1::Pod::kKind, "", "metadata.name=x", "/registry/pods/", false, ""},
      {core::v1::Pod::kKind, "", "spec.nodeName=n", "/registry/pods/", false, "n"},
      {core::v1::Pod::kKind, "a", "spec.nodeName=n", "/registry/pods/a/", false, "n"},
      // Pods that are not bound are not in the index.
      {core::v1::Pod::kKind, "", "spec.nodeName=", "/registry/pods/", false, ""},
      {core::v1::Pod::kKind, "", "spec.nodeName!=n", "/registry/pods/", false, ""},
      {core::v1::Node::kKind, "", "metadata.name=n", "/registry/minions/n", true, ""},
      {core::v1::ConfigMap::kKind, "a", "metadata.name!=x", "/registry/configmaps/a/", false, ""},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(std::string(c.kind.kind) + " " + c.ns + " " + c.selector);
    const AccessPath path = PathOf(c.kind, c.ns, c.selector);
    EXPECT_EQ(path.prefix, c.prefix);
    EXPECT_EQ(path.one_key, c.one_key);
    EXPECT_EQ(path.field_value, c.field_value);
  }
}

TEST_F(AccessPathTest, ListsByNodeEvaluateAllSelectors) {
  ASSERT_EQ(api_.Do({.method = "POST",
                     .target = "/api/v1/namespaces",
                     .body = R"({"metadata":{"name":"other"}})"})
                .exchange()
                .status(),
            201);
  CreatePod("default", "a", "one");
  CreatePod("default", "b", "two");
  CreatePod("default", "c", "one");
  CreatePod("other", "d", "one");
  CreatePod("default", "unbound", "");
  const std::string all = "/api/v1/pods?fieldSelector=";
  const std::string default_only = "/api/v1/namespaces/default/pods?fieldSelector=";
  for (const std::string version : {"", "&resourceVersion=0", "&resourceVersion=1"}) {
    EXPECT_EQ(Names(all + "spec.nodeName%3Done" + version), "a c d ");
    EXPECT_EQ(Names(default_only + "spec.nodeName%3Done" + version), "a c ");
    EXPECT_EQ(Names(default_only + "spec.nodeName%3Done,metadata.name%3Dc" + version), "c ");
    EXPECT_EQ(Names(all + "spec.nodeName%3Done,spec.nodeName%3Dtwo" + version), "");
    EXPECT_EQ(Names(all + "spec.nodeName%3D" + version), "unbound ");
    EXPECT_EQ(Names(all + "spec.nodeName%3Dnone" + version), "");
  }
}

// A kubelet would stop the Pods that are missing in a list.
TEST_F(AccessPathTest, ListByNodeFailsIfAPodCannotBeRead) {
  CreatePod("default", "a", "one");
  ASSERT_TRUE(api_.store().Create(api_.ctx(), "/registry/pods/default/lost", "k8s:enc:x").ok());
  api_.Sync(core::v1::Pod::kKind);
  for (const std::string version : {"", "&resourceVersion=0"}) {
    FakeCall list = api_.Do({.target = "/api/v1/pods?fieldSelector=spec.nodeName%3Done" + version});
    EXPECT_EQ(list.exchange().status(), 500) << list.exchange().Body();
  }
}

TEST_F(AccessPathTest, ListsByNodeArePaginated) {
  for (const char* name : {"a", "b", "c"}) CreatePod("default", name, "one");
  CreatePod("default", "d", "two");
  FakeCall first = api_.Do({.target = "/api/v1/pods?limit=2&fieldSelector=spec.nodeName%3Done"});
  const Result<Value> page = json::Parse(first.exchange().Body());
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->Find("items")->as_array().size(), 2u);
  const std::string token(page->At({"metadata", "continue"})->as_string());
  EXPECT_EQ(Names("/api/v1/pods?limit=2&fieldSelector=spec.nodeName%3Done&continue=" + token),
            "c ");
}

TEST_F(AccessPathTest, WatchesByNodeReceiveOnlyItsPods) {
  CreatePod("default", "before", "one");
  FakeCall one = api_.Do({.target = "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Done"});
  FakeCall two = api_.Do({.target = "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dtwo"});
  EXPECT_NE(one.exchange().Pull().find(R"("name":"before")"), std::string::npos);
  EXPECT_EQ(two.exchange().Pull(), "");
  CreatePod("default", "web", "");
  EXPECT_EQ(one.exchange().Pull(), "");
  FakeCall bound = api_.Do({.method = "POST",
                            .target = "/api/v1/namespaces/default/pods/web/binding",
                            .body = R"({"metadata":{"name":"web"},"target":{"kind":"Node",)"
                                    R"("name":"one"}})"});
  ASSERT_EQ(bound.exchange().status(), 201) << bound.exchange().Body();
  api_.Sync(core::v1::Pod::kKind);
  // For this watcher the Pod is new.
  EXPECT_TRUE(one.exchange().Pull().starts_with(R"({"type":"ADDED")"));
  EXPECT_EQ(two.exchange().Pull(), "");
}

}  // namespace
}  // namespace cox::apiserver
