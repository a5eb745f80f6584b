// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/resource_quota/resource_quota.h"

#include <atomic>
#include <thread>

#include "apiserver/testing/write_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::ResourceQuota;

class ResourceQuotaTest : public ::testing::Test {
 protected:
  // Creates a quota with `used` as the usage in its status.
  void AddQuota(const std::string& name, const std::string& hard, const std::string& used,
                const std::string& more = "") {
    const std::string target = "/api/v1/namespaces/default/resourcequotas";
    const std::string body = R"({"metadata":{"name":")" + name + R"("},"spec":{"hard":)" + hard +
                             more + R"(},"status":{"hard":)" + hard + R"(,"used":)" + used + "}}";
    ASSERT_EQ(Code({.method = "POST", .target = target, .body = body}), 201);
    ASSERT_EQ(Code({.method = "PUT", .target = target + "/" + name + "/status", .body = body}),
              200);
    api_.Sync(ResourceQuota::kKind);
  }
  int Code(FakeRequest request) { return api_.Do(std::move(request)).exchange().status(); }
  // Returns "" if the write succeeded, otherwise the message of the response.
  std::string Message(FakeRequest request) {
    FakeCall call = api_.Do(std::move(request));
    if (call.exchange().status() < 300) return "";
    const Result<Value> body = json::Parse(call.exchange().Body());
    return body.ok() ? std::string(body->At({"message"})->as_string()) : call.exchange().Body();
  }
  static FakeRequest CreateMap(const std::string& name, const std::string& query = "") {
    return {.method = "POST",
            .target = "/api/v1/namespaces/default/configmaps" + query,
            .body = R"({"metadata":{"name":")" + name + "\"}}"};
  }
  static FakeRequest CreatePod(const std::string& name, const std::string& requests) {
    return {.method = "POST",
            .target = "/api/v1/namespaces/default/pods",
            .body = R"({"metadata":{"name":")" + name +
                    R"("},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":)" +
                    requests + "}}]}}"};
  }
  std::string Used(const std::string& name) {
    return quota::ToText(api_.Read<ResourceQuota>(name, "default").status.used);
  }

  WriteHarness api_;
};

TEST_F(ResourceQuotaTest, ChargesAdmittedRequestsAndRejectsOthers) {
  AddQuota("q", R"({"pods":"2","requests.cpu":"1"})", R"({"pods":"0","requests.cpu":"0"})");
  EXPECT_EQ(Message(CreatePod("a", R"({"cpu":"600m"})")), "");
  EXPECT_EQ(Used("q"), "pods=1,requests.cpu=600m");
  EXPECT_EQ(Message(CreatePod("b", R"({"cpu":"500m"})")),
            "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: "
            "requests.cpu=600m, limited: requests.cpu=1");
  EXPECT_EQ(Message(CreatePod("b", "{}")),
            "pods \"b\" is forbidden: failed quota: q: must specify requests.cpu for: c");
  EXPECT_EQ(Message(CreatePod("b", R"({"cpu":"400m"})")), "");
  EXPECT_EQ(Used("q"), "pods=2,requests.cpu=1");
}

TEST_F(ResourceQuotaTest, RejectsRequestsUntilUsageIsKnown) {
  AddQuota("q", R"({"configmaps":"5","count/configmaps":"5"})", R"({"configmaps":"0"})");
  EXPECT_EQ(Message(CreateMap("m")),
            "configmaps \"m\" is forbidden: status unknown for quota: q, resources: "
            "configmaps,count/configmaps");
}

TEST_F(ResourceQuotaTest, QuotaAppliesToItsNamespaceOnly) {
  AddQuota("q", R"({"configmaps":"0"})", R"({"configmaps":"0"})");
  ASSERT_EQ(Code({.method = "POST",
                  .target = "/api/v1/namespaces",
                  .body = R"({"metadata":{"name":"other"}})"}),
            201);
  EXPECT_EQ(Message({.method = "POST",
                     .target = "/api/v1/namespaces/other/configmaps",
                     .body = R"({"metadata":{"name":"m"}})"}),
            "");
  EXPECT_NE(Message(CreateMap("m")), "");
}

TEST_F(ResourceQuotaTest, DryRunIsCheckedButNotCharged) {
  AddQuota("q", R"({"configmaps":"1"})", R"({"configmaps":"0"})");
  EXPECT_EQ(Message(CreateMap("a", "?dryRun=All")), "");
  EXPECT_EQ(Used("q"), "configmaps=0");
  EXPECT_EQ(Message(CreateMap("a")), "");
  EXPECT_NE(Message(CreateMap("b", "?dryRun=All")), "");
  EXPECT_EQ(Used("q"), "configmaps=1");
}

TEST_F(ResourceQuotaTest, UpdateIsChargedForTheIncrease) {
  AddQuota("q", R"({"services":"1","services.nodeports":"1"})",
           R"({"services":"0","services.nodeports":"0"})");
  const std::string target = "/api/v1/namespaces/default/services";
  const auto patch = [&](const std::string& spec) {
    net::Headers headers;
    headers.Add("content-type", "application/merge-patch+json");
    return Message({.method = "PATCH",
                    .target = target + "/s",
                    .body = R"({"spec":)" + spec + "}",
                    .headers = headers});
  };
  ASSERT_EQ(Message({.method = "POST",
                     .target = target,
                     .body = R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}})"}),
            "");
  EXPECT_EQ(Used("q"), "services=1,services.nodeports=0");
  EXPECT_EQ(patch(R"({"type":"NodePort"})"), "");
  EXPECT_EQ(Used("q"), "services=1,services.nodeports=1");
  EXPECT_EQ(patch(R"({"ports":[{"port":1,"name":"a"},{"port":2,"name":"b"}]})"),
            "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=1, "
            "used: services.nodeports=1, limited: services.nodeports=1");
  // Decreases are recalculated by the quota controller.
  EXPECT_EQ(patch(R"({"type":"ClusterIP"})"), "");
  EXPECT_EQ(Used("q"), "services=1,services.nodeports=1");
}

TEST_F(ResourceQuotaTest, QuotaAppliesToObjectsInItsScopesOnly) {
  AddQuota("best", R"({"pods":"0"})", R"({"pods":"0"})", R"(,"scopes":["BestEffort"])");
  EXPECT_EQ(Message(CreatePod("a", R"({"cpu":"1"})")), "");
  EXPECT_EQ(Message(CreatePod("b", "{}")),
            "pods \"b\" is forbidden: exceeded quota: best, requested: pods=1, used: pods=0, "
            "limited: pods=0");
  EXPECT_EQ(Used("best"), "pods=0");
}

TEST_F(ResourceQuotaTest, EventsAreNotCounted) {
  AddQuota("q", R"({"count/events":"0","count/leases.coordination.k8s.io":"0"})",
           R"({"count/events":"0","count/leases.coordination.k8s.io":"0"})");
  EXPECT_EQ(
      Message({.method = "POST",
               .target = "/api/v1/namespaces/default/events",
               .body = R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}})"}),
      "");
  EXPECT_NE(Message({.method = "POST",
                     .target = "/apis/coordination.k8s.io/v1/namespaces/default/leases",
                     .body = R"({"metadata":{"name":"l"}})"}),
            "");
}

// Concurrent creates must not exceed the quota.
TEST_F(ResourceQuotaTest, ConcurrentCreatesGetExactlyTheQuota) {
  constexpr int kThreads = 8, kEach = 10, kHard = 23;
  AddQuota("q", R"({"configmaps":"23"})", R"({"configmaps":"0"})");
  AddQuota("wide", R"({"count/configmaps":"1000"})", R"({"count/configmaps":"0"})");
  std::atomic<int> created = 0, refused = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const int code = Code(CreateMap("m-" + std::to_string(t) + "-" + std::to_string(i)));
        if (code == 201) ++created;
        if (code == 403) ++refused;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(created, kHard);
  EXPECT_EQ(refused, kThreads * kEach - kHard);
  EXPECT_EQ(Used("q"), "configmaps=23");
  EXPECT_EQ(Used("wide"), "count/configmaps=23");
}

// Two servers with the same storage: their status updates conflict, and the loser retries.
TEST_F(ResourceQuotaTest, IndependentServersDoNotExceedTheQuota) {
  constexpr int kEach = 20, kHard = 15;
  AddQuota("q", R"({"configmaps":"15"})", R"({"configmaps":"0"})");
  const auto one = NewResourceQuota(api_.registry(), {});
  const auto other = NewResourceQuota(api_.registry(), {});
  Object map(core::v1::ConfigMap::kKind);
  map.object_meta()->name = "m";
  const UserInfo user;
  const AdmissionRequest request{.operation = Operation::kCreate,
                                 .resource = api_.registry().Hub(core::v1::ConfigMap::kKind),
                                 .subresource = {},
                                 .ns = "default",
                                 .name = "m",
                                 .user = user,
                                 .object = &map};
  std::atomic<int> granted = 0;
  std::vector<std::jthread> threads;
  for (const AdmissionPlugin* plugin : {one.get(), other.get()}) {
    threads.emplace_back([&, plugin] {
      for (int i = 0; i < kEach; ++i) {
        if (plugin->Validate(api_.ctx(), request).ok()) ++granted;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(granted, kHard);
  EXPECT_EQ(Used("q"), "configmaps=15");
}

TEST_F(ResourceQuotaTest, ChargeIsOwnedByTheApiServer) {
  AddQuota("q", R"({"configmaps":"1"})", R"({"configmaps":"0"})");
  ASSERT_EQ(Message(CreateMap("a")), "");
  bool found = false;
  for (const auto& entry : api_.Read<ResourceQuota>("q", "default").metadata.managedFields) {
    found = found || (entry.manager == "kube-apiserver" && entry.subresource == "status");
  }
  EXPECT_TRUE(found);
}

class LimitedTest : public ResourceQuotaTest {
 protected:
  // The result of the plugin for a Pod with the given spec.
  std::string Judge(const std::string& config, const std::string& spec) {
    const Result<Value> value = json::Parse(config);
    EXPECT_TRUE(value.ok());
    Result<quota::LimitedResources> limited = ReadLimitedResources(&*value);
    EXPECT_TRUE(limited.ok()) << limited.status().message();
    const auto plugin = NewResourceQuota(api_.registry(), *limited);
    Object pod(core::v1::Pod::kKind);
    EXPECT_TRUE(
        pod.FromValue(*json::Parse(R"({"metadata":{"name":"p"},"spec":)" + spec + "}")).ok());
    const UserInfo user;
    return plugin
        ->Validate(api_.ctx(), {.operation = Operation::kCreate,
                                .resource = api_.registry().Hub(core::v1::Pod::kKind),
                                .subresource = {},
                                .ns = "default",
                                .name = "p",
                                .user = user,
                                .object = &pod})
        .message();
  }
  static constexpr const char* kNamed = R"({"apiVersion":"apiserver.config.k8s.io/v1",
      "kind":"ResourceQuotaConfiguration",
      "limitedResources":[{"resource":"pods","matchContains":[".cpu"]}]})";
  static constexpr const char* kScoped = R"({"apiVersion":"apiserver.config.k8s.io/v1",
      "kind":"ResourceQuotaConfiguration","limitedResources":[{"resource":"pods","matchScopes":
        [{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}]})";
};

TEST_F(LimitedTest, LimitedResourceRequiresACoveringQuota) {
  const std::string pod = R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})";
  EXPECT_EQ(Judge(kNamed, pod),
            "pods \"p\" is forbidden: insufficient quota to consume: requests.cpu");
  EXPECT_EQ(Judge(kNamed, R"({"containers":[{"name":"c"}]})"), "");
  AddQuota("q", R"({"requests.cpu":"1"})", R"({"requests.cpu":"0"})");
  EXPECT_EQ(Judge(kNamed, pod), "");
}

TEST_F(LimitedTest, LimitedScopeRequiresAQuotaWithTheScope) {
  const std::string high = R"({"priorityClassName":"high"})";
  EXPECT_EQ(Judge(kScoped, high),
            "pods \"p\" is forbidden: insufficient quota to match these scopes: [{PriorityClass In "
            "[high]}]");
  EXPECT_EQ(Judge(kScoped, R"({"priorityClassName":"low"})"), "");
  AddQuota("q", R"({"pods":"1"})", R"({"pods":"0"})",
           R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In",
              "values":["high"]}]})");
  EXPECT_EQ(Judge(kScoped, high), "");
}

TEST_F(LimitedTest, InvalidConfigurationsAreRejected) {
  for (const char* config :
       {R"({"kind":"Other","apiVersion":"apiserver.config.k8s.io/v1"})",
        R"({"kind":"ResourceQuotaConfiguration","apiVersion":"apiserver.config.k8s.io/v1",
            "limitedResource":[]})",
        R"({"kind":"ResourceQuotaConfiguration","apiVersion":"apiserver.config.k8s.io/v1",
            "limitedResources":[{"matchContains":["x"]}]})"}) {
    const Result<Value> value = json::Parse(config);
    ASSERT_TRUE(value.ok());
    EXPECT_FALSE(ReadLimitedResources(&*value).ok()) << config;
  }
}

}  // namespace
}  // namespace cox::apiserver
