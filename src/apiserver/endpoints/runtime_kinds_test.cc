// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "apiserver/endpoints/discovery/discovery.h"
#include "apiserver/endpoints/openapi/openapi.h"
#include "apiserver/filters/fairness/fairness_feed.h"
#include "apiserver/filters/metrics/request_metrics.h"
#include "apiserver/testing/call_harness.h"
#include "apiserver/testing/runtime_kind.h"
#include "storage/testing/faulty_store.h"

// Kinds that are added, changed and removed while the server runs.
namespace cox::apiserver {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kWidgets[] = "/apis/example.com/v1/namespaces/default/widgets";

class RuntimeKindsTest : public ::testing::Test {
 protected:
  Status Put(RuntimeKindOptions options = {}) {
    return api_.mutable_registry().Apply(
        api_.ctx(), {.put = {NewRuntimeKind(std::move(options))}, .remove = {}});
  }
  Status Remove(std::string group = "example.com", std::string plural = "widgets") {
    return api_.mutable_registry().Apply(
        api_.ctx(), {.put = {}, .remove = {{std::move(group), std::move(plural)}}});
  }
  std::string Get(std::string target, net::Headers headers = {}) {
    return api_.Text({.target = std::move(target), .headers = std::move(headers)});
  }
  std::string Post(std::string target, std::string body) {
    return api_.Text({.method = "POST", .target = std::move(target), .body = std::move(body)});
  }
  CurrentServedSet Served() {
    return [this] { return api_.registry().served(); };
  }

  ApiHarness api_;
};

TEST_F(RuntimeKindsTest, KindIsServedAfterItIsAddedUntilItIsRemoved) {
  EXPECT_THAT(Get(kWidgets), HasSubstr("404 "));
  ASSERT_TRUE(Put().ok());
  EXPECT_THAT(Get(kWidgets),
              HasSubstr(R"(200 {"kind":"WidgetList","apiVersion":"example.com/v1")"));
  EXPECT_THAT(Post(kWidgets, R"({"apiVersion":"example.com/v1","kind":"Widget",
                                 "metadata":{"name":"w"},"data":{"a":"1"}})"),
              HasSubstr(R"(201 {"kind":"Widget","apiVersion":"example.com/v1")"));
  EXPECT_THAT(Get(std::string(kWidgets) + "/w"), HasSubstr(R"("data":{"a":"1"})"));
  EXPECT_THAT(api_.Text({.method = "PATCH",
                         .target = std::string(kWidgets) + "/w",
                         .body = R"({"data":{"b":"2"}})",
                         .headers = {{"content-type", "application/merge-patch+json"}}}),
              HasSubstr(R"("data":{"a":"1","b":"2"})"));
  EXPECT_THAT(api_.Text({.method = "PATCH",
                         .target = std::string(kWidgets) + "/applied?fieldManager=me",
                         .body = R"({"apiVersion":"example.com/v1","kind":"Widget",
                                     "metadata":{"name":"applied"},"data":{"c":"3"}})",
                         .headers = {{"content-type", "application/apply-patch+yaml"}}}),
              HasSubstr("201 "));
  EXPECT_THAT(api_.Text({.method = "DELETE",
                         .target = std::string(kWidgets) + "/w",
                         .body = R"({"apiVersion":"example.com/v1","kind":"DeleteOptions"})"}),
              HasSubstr("200 "));
  ASSERT_TRUE(Remove().ok());
  EXPECT_THAT(Get(kWidgets), HasSubstr("404 "));
  EXPECT_THAT(Post(kWidgets, R"({"metadata":{"name":"w"}})"), HasSubstr("404 "));
  // Removing a kind leaves its objects in storage; deleting them is the task of the CRD's
  // controller.
  ASSERT_TRUE(Put().ok());
  EXPECT_THAT(Get(std::string(kWidgets) + "/applied"), HasSubstr(R"("data":{"c":"3"})"));
}

TEST_F(RuntimeKindsTest, KindIsRejectedByTheEndpointsOfOtherKinds) {
  ASSERT_TRUE(Put().ok());
  EXPECT_THAT(Post("/api/v1/namespaces/default/configmaps",
                   R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})"),
              HasSubstr(R"(no kind \"Widget\" is registered for version \"example.com/v1\")"));
  EXPECT_THAT(Post(kWidgets, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"}})"),
              HasSubstr("cannot be handled as a Widget"));
}

TEST_F(RuntimeKindsTest, ObjectIsServedInAllVersions) {
  ASSERT_TRUE(Put({.versions = {"v1", "v1beta1"}}).ok());
  EXPECT_THAT(
      Post("/apis/example.com/v1beta1/namespaces/default/widgets",
           R"({"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"w"}})"),
      HasSubstr(R"(201 {"kind":"Widget","apiVersion":"example.com/v1beta1")"));
  EXPECT_THAT(Get(std::string(kWidgets) + "/w"),
              HasSubstr(R"(200 {"kind":"Widget","apiVersion":"example.com/v1")"));
  EXPECT_THAT(Post(kWidgets, R"({"apiVersion":"example.com/v1beta1","kind":"Widget",
                                 "metadata":{"name":"x"}})"),
              HasSubstr("the API version in the data (example.com/v1beta1) does not match the "
                        "expected API version (example.com/v1)"));
  const auto stored = api_.store().Get(api_.ctx(), "/registry/example.com/widgets/default/w");
  EXPECT_THAT(std::string(stored->kv->value.view()), HasSubstr(R"("apiVersion":"example.com/v1")"));
}

TEST_F(RuntimeKindsTest, ChangedKindIsServedWithItsNewDefinition) {
  const net::Headers table = {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  ASSERT_TRUE(Put({.column = "Before"}).ok());
  EXPECT_THAT(Get(kWidgets, table), HasSubstr(R"("name":"Before")"));
  ASSERT_TRUE(Put({.versions = {"v2"}, .column = "After"}).ok());
  EXPECT_THAT(Get(kWidgets), HasSubstr("404 "));
  EXPECT_THAT(Get("/apis/example.com/v2/namespaces/default/widgets", table),
              HasSubstr(R"("name":"After")"));
}

TEST_F(RuntimeKindsTest, ChangeAndRemoveEndWatches) {
  for (const bool removed : {false, true}) {
    SCOPED_TRACE(removed);
    ASSERT_TRUE(Put().ok());
    FakeCall watch = api_.Do({.target = std::string(kWidgets) + "?watch=1"});
    FakeCall other = api_.Do({.target = "/api/v1/namespaces/default/configmaps?watch=1"});
    const std::string name = removed ? "removed" : "changed";
    EXPECT_THAT(Post(kWidgets, R"({"metadata":{"name":")" + name + R"("}})"), HasSubstr("201 "));
    // The watch cache contains the object before the kind changes.
    api_.Sync(api_.registry().Find("example.com", "v1", "widgets")->kind());
    ASSERT_TRUE((removed ? Remove() : Put({.column = "After"})).ok());
    const std::string events = watch.exchange().Pull();
    EXPECT_THAT(events, StartsWith(R"({"type":"ADDED")"));
    EXPECT_THAT(events, EndsWith("}\n<end>"));
    EXPECT_THAT(events, Not(HasSubstr("ERROR")));
    EXPECT_EQ(other.exchange().Pull(), "");
  }
}

TEST_F(RuntimeKindsTest, HeldResourceWorksAfterItsKindIsRemoved) {
  ASSERT_TRUE(Put().ok());
  ASSERT_THAT(Post(kWidgets, R"({"metadata":{"name":"w"}})"), HasSubstr("201 "));
  const auto resource = api_.registry().Find("example.com", "v1", "widgets");
  ASSERT_NE(resource, nullptr);
  ASSERT_TRUE(Remove().ok());
  EXPECT_EQ(api_.registry().Find("example.com", "v1", "widgets"), nullptr);
  const Result<Object> object = resource->store().Get(api_.ctx(), "default", "w");
  ASSERT_TRUE(object.ok()) << object.status().message();
  EXPECT_EQ(object->object_meta()->name, "w");
  EXPECT_TRUE(resource->store().Get(api_.ctx(), "default", "w", /*from_cache=*/true).ok());
}

TEST_F(RuntimeKindsTest, BuiltInResourcesCannotBeReplacedOrRemoved) {
  const ServedSetPtr before = api_.registry().served();
  const Status status = Put({.group = "apps", .kind = "Deployment", .plural = "deployments"});
  EXPECT_TRUE(status.Is(Reason::kConflict));
  EXPECT_EQ(status.message(), "deployments.apps is a built-in resource");
  EXPECT_EQ(api_.registry().served(), before);
  ASSERT_TRUE(Remove("apps", "deployments").ok());
  EXPECT_NE(api_.registry().Find("apps", "v1", "deployments"), nullptr);
}

TEST_F(RuntimeKindsTest, KindIsNotServedIfItsCacheCannotSync) {
  storage::FaultyStore store(api_.store());
  Registry registry(api_.ctx(),
                    {.storage = [&store](const KindInfo&) -> storage::Store& { return store; }});
  store.FailLists(Status::Unavailable("no leader"));
  Context stopped = api_.ctx().Child();
  stopped.Stop();
  EXPECT_FALSE(registry.Apply(stopped, {.put = {NewRuntimeKind()}, .remove = {}}).ok());
  EXPECT_EQ(registry.Find("example.com", "v1", "widgets"), nullptr);
  store.FailLists({});
  EXPECT_TRUE(registry.Apply(api_.ctx(), {.put = {NewRuntimeKind()}, .remove = {}}).ok());
  EXPECT_NE(registry.Find("example.com", "v1", "widgets"), nullptr);
}

TEST_F(RuntimeKindsTest, ChangeKeepsOtherGroupsUnchanged) {
  ASSERT_TRUE(Put().ok());
  const ServedSetPtr before = api_.registry().served();
  ASSERT_TRUE(Put({.kind = "Gadget", .plural = "gadgets"}).ok());
  const ServedSetPtr after = api_.registry().served();
  for (const auto& [name, group] : before->groups()) {
    EXPECT_EQ(group == after->groups().find(name)->second, name != "example.com") << name;
  }
  EXPECT_EQ(before->Find("example.com", "v1", "gadgets"), nullptr);
  EXPECT_NE(after->Find("example.com", "v1", "gadgets"), nullptr);
  ASSERT_TRUE(Remove().ok());
  ASSERT_TRUE(Remove("example.com", "gadgets").ok());
  EXPECT_FALSE(api_.registry().served()->groups().contains("example.com"));
}

TEST_F(RuntimeKindsTest, ChangesOfOneApplyAreAtomic) {
  ASSERT_TRUE(Put().ok());
  ASSERT_TRUE(api_.mutable_registry()
                  .Apply(api_.ctx(), {.put = {NewRuntimeKind({.group = "a.io"}),
                                              NewRuntimeKind({.group = "b.io"})},
                                      .remove = {{"example.com", "widgets"}}})
                  .ok());
  const ServedSetPtr now = api_.registry().served();
  EXPECT_NE(now->Find("a.io", "v1", "widgets"), nullptr);
  EXPECT_NE(now->Find("b.io", "v1", "widgets"), nullptr);
  EXPECT_EQ(now->Find("example.com", "v1", "widgets"), nullptr);
}

TEST_F(RuntimeKindsTest, DiscoveryAndOpenApiReflectRuntimeKinds) {
  const Discovery discovery(Served());
  const OpenApi openapi(Served(), "v1.36.4");
  const auto document = [&](std::string target) {
    net::Request request;
    request.method = "GET";
    request.target = std::move(target);
    const net::Response response = openapi.Handle(request);
    std::string text = std::to_string(response.status) + " ";
    for (const Bytes& piece : response.body) text += piece.view();
    return text;
  };
  const std::string index = document("/openapi/v3");
  EXPECT_EQ(document("/openapi/v3/apis/example.com/v1"), "404 ");
  ASSERT_TRUE(Put({.short_names = {"wid"}}).ok());
  EXPECT_THAT(std::string(discovery.documents()->AggregatedGroups().json.view()),
              HasSubstr(R"("shortNames":["wid"])"));
  EXPECT_THAT(document("/openapi/v3/apis/example.com/v1"),
              HasSubstr("/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"));
  EXPECT_THAT(document("/openapi/v3"), HasSubstr(R"("apis/example.com/v1")"));
  EXPECT_THAT(document("/openapi/v2"), HasSubstr("/apis/example.com/v1/widgets"));
  ASSERT_TRUE(Put({.versions = {"v2"}, .short_names = {"other"}}).ok());
  EXPECT_THAT(std::string(discovery.documents()->AggregatedGroups().json.view()),
              HasSubstr(R"("shortNames":["other"])"));
  EXPECT_EQ(document("/openapi/v3/apis/example.com/v1"), "404 ");
  EXPECT_THAT(document("/openapi/v3/apis/example.com/v2"), HasSubstr("200 "));
  ASSERT_TRUE(Remove().ok());
  EXPECT_EQ(discovery.documents()->Group("example.com"), nullptr);
  EXPECT_EQ(document("/openapi/v3"), index);
  EXPECT_THAT(document("/openapi/v2"), Not(HasSubstr("/apis/example.com/")));
}

TEST_F(RuntimeKindsTest, FairnessAndRequestMetricsReflectRuntimeKinds) {
  MetricsRegistry metrics;
  RequestMetrics requests(metrics, Served());
  const auto count = [&] {
    FakeCall call(api_.clock(), {.target = kWidgets});
    requests.Follow(*call.shared());
    call.shared()->RespondText(200, "");
  };
  const auto known = [&] {
    FakeCall call(api_.clock(), {.target = kWidgets});
    return ReadWorkFacts(api_.registry(), call.shared()->info).known;
  };
  const std::string series = R"(group="example.com",resource="widgets")";
  EXPECT_FALSE(known());
  count();
  EXPECT_THAT(metrics.Render(), Not(HasSubstr(series)));
  ASSERT_TRUE(Put().ok());
  EXPECT_TRUE(known());
  count();
  EXPECT_THAT(metrics.Render(), HasSubstr(series));
  ASSERT_TRUE(Remove().ok());
  EXPECT_FALSE(known());
}

}  // namespace
}  // namespace cox::apiserver
