// SPDX-License-Identifier: Apache-2.0
// One test per class of vulnerability that Kubernetes had to fix in its API server and that can be
// tested with handlers alone. docs/cve.md contains the complete table, including those that are
// tested elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/rbac/v1.h"
#include "apiserver/filters/authz/rbac/bootstrap_policy/policy.h"
#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/testing/write_harness.h"
#include "object/validation/ip.h"

namespace cox::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CveTest : public ::testing::Test {
 protected:
  int Code(FakeRequest request) { return api_.Do(std::move(request)).exchange().status(); }
  std::set<std::string> Keys() {
    std::set<std::string> keys;
    storage::ListOptions options;
    options.keys_only = true;
    const storage::Page page = *api_.store().List(api_.ctx(), "/", options);
    for (const storage::KeyValue& kv : page.items) keys.insert(kv.key);
    return keys;
  }

  WriteHarness api_;
};

// CVE-2019-11247: a role in one namespace gave access to cluster-scoped objects.
TEST_F(CveTest, Y2019_11247_ClusterScopedObjectsAreNotServedInNamespaces) {
  ASSERT_EQ(
      Code({.method = "POST", .target = "/api/v1/nodes", .body = R"({"metadata":{"name":"n1"}})"}),
      201);
  const std::set<std::string> before = Keys();
  for (const char* inside :
       {"/api/v1/namespaces/default/nodes", "/api/v1/namespaces/default/persistentvolumes",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/clusterroles",
        "/apis/storage.k8s.io/v1/namespaces/default/storageclasses"}) {
    const std::string collection = inside;
    EXPECT_EQ(Code({.target = collection}), 404) << inside;
    EXPECT_EQ(Code({.target = collection + "?watch=1"}), 404) << inside;
    EXPECT_EQ(Code({.target = collection + "/n1"}), 404) << inside;
    EXPECT_EQ(Code({.method = "DELETE", .target = collection + "/n1"}), 404) << inside;
    EXPECT_EQ(
        Code({.method = "POST", .target = collection, .body = R"({"metadata":{"name":"x"}})"}), 404)
        << inside;
  }
  EXPECT_EQ(Keys(), before);
}

// CVE-2022-3162: a kind was readable through another kind whose name is a prefix of its own.
TEST_F(CveTest, Y2022_3162_NoKindIsStoredUnderPrefixOfAnother) {
  std::set<std::string> prefixes;
  for (const StrategyPtr& strategy : BuiltinKinds()) {
    const std::shared_ptr<const ServedResource> resource = api_.registry().Find(
        strategy->kind().group, strategy->kind().version, strategy->kind().plural);
    if (resource != nullptr) prefixes.insert(resource->store().root_prefix());
  }
  ASSERT_GT(prefixes.size(), 40U);
  for (const std::string& prefix : prefixes) {
    EXPECT_TRUE(prefix.ends_with('/')) << prefix;
    for (const std::string& other : prefixes) {
      EXPECT_TRUE(other == prefix || !other.starts_with(prefix)) << other << " under " << prefix;
    }
  }
}

TEST_F(CveTest, Y2022_3162_ListExcludesNamespacesWithSamePrefix) {
  ASSERT_EQ(Code({.method = "POST",
                  .target = "/api/v1/namespaces",
                  .body = R"({"metadata":{"name":"default-2"}})"}),
            201);
  ASSERT_EQ(Code({.method = "POST",
                  .target = "/api/v1/namespaces/default-2/configmaps",
                  .body = R"({"metadata":{"name":"theirs"}})"}),
            201);
  EXPECT_THAT(api_.Text({.target = "/api/v1/namespaces/default/configmaps"}),
              Not(HasSubstr("theirs")));
  EXPECT_THAT(api_.Text({.target = "/api/v1/namespaces/default-2/configmaps"}),
              HasSubstr("theirs"));
}

// CVE-2015-5305: path traversal in names.
TEST_F(CveTest, Y2015_5305_PathsInNamesNeverReachStorageKeys) {
  const std::set<std::string> before = Keys();
  for (const char* name :
       {"..", ".", "../secrets/x", "a/b", "a%2Fb", "/etc", "a/../b", "..%2f.."}) {
    const std::string body = std::string(R"({"metadata":{"name":")") + name + R"("}})";
    for (const char* collection : {"/api/v1/namespaces/default/configmaps", "/api/v1/namespaces",
                                   "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"}) {
      const int code = Code({.method = "POST", .target = collection, .body = body});
      EXPECT_TRUE(code >= 400 && code < 500) << collection << " " << name << ": " << code;
    }
  }
  for (const char* path :
       {"/api/v1/namespaces/default/configmaps/..%2F..%2Fsecrets%2Fx",
        "/api/v1/namespaces/default/configmaps/%2e%2e", "/api/v1/namespaces/%2e%2e/configmaps",
        "/api/v1/namespaces/..%2Fdefault/configmaps/x"}) {
    const int code = Code({.target = path});
    EXPECT_TRUE(code == 200 || (code >= 400 && code < 500)) << path << ": " << code;
    const int written = Code({.method = "PUT",
                              .target = path,
                              .body = R"({"metadata":{"name":"x","namespace":"default"}})"});
    EXPECT_TRUE(written >= 400 && written < 500) << path << ": " << written;
  }
  EXPECT_EQ(Keys(), before);
}

// CVE-2019-1002100: a small patch that consumes minutes of CPU time and gigabytes of memory.
TEST_F(CveTest, Y2019_1002100_JsonPatchesAreBounded) {
  const std::string collection = "/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(Code({.method = "POST",
                  .target = collection,
                  .body = R"({"metadata":{"name":"m"},"data":{"n":"1"}})"}),
            201);
  const auto patch = [&](std::string body) {
    net::Headers headers;
    headers.Add("content-type", "application/json-patch+json");
    return Code({.method = "PATCH",
                 .target = collection + "/m",
                 .body = std::move(body),
                 .headers = std::move(headers)});
  };
  std::string many = "[";
  for (int i = 0; i < 10'001; ++i) {
    many += std::string(i == 0 ? "" : ",") + R"({"op":"test","path":"/data/n","value":"1"})";
  }
  EXPECT_EQ(patch(many + "]"), 413);
  std::string doubling = "[";
  for (int i = 0; i < 60; ++i) {
    doubling += std::string(i == 0 ? "" : ",") + R"({"op":"copy","from":"/data","path":"/data/x)" +
                std::to_string(i) + "\"}";
  }
  const int code = patch(doubling + "]");
  EXPECT_TRUE(code >= 400 && code < 500) << code;
}

// CVE-2019-11253: a YAML document whose aliases expand exponentially ("billion laughs").
TEST_F(CveTest, Y2019_11253_YamlAliasExpansionIsRejected) {
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char at = 'a'; at < 'j'; ++at) {
    const char next = static_cast<char>(at + 1);
    laughs += std::string(1, next) + ": &" + next + " [";
    for (int i = 0; i < 9; ++i) laughs += std::string(i == 0 ? "*" : ",*") + at;
    laughs += "]\n";
  }
  net::Headers headers;
  headers.Add("content-type", "application/yaml");
  EXPECT_EQ(Code({.method = "POST",
                  .target = "/api/v1/namespaces/default/configmaps",
                  .body = laughs,
                  .headers = std::move(headers)}),
            400);
}

// CVE-2021-29923: "010.0.0.1" is parsed differently by different programs.
TEST_F(CveTest, Y2021_29923_LeadingZerosAreNeverOctal) {
  ASSERT_TRUE(validation::ParseIpSloppy("010.0.0.1"));
  EXPECT_EQ(validation::ParseIpSloppy("010.0.0.1")->ToString(), "10.0.0.1");  // never octal
  EXPECT_EQ(validation::ParseCidrSloppy("010.0.0.0/8")->Network().ToString(), "10.0.0.0");
  // APIs with the stricter validation reject it.
  EXPECT_THAT(api_.Text({.method = "POST",
                         .target = "/apis/networking.k8s.io/v1/ipaddresses",
                         .body = R"({"metadata":{"name":"010.0.0.1"},"spec":{"parentRef":)"
                                 R"({"resource":"services","name":"x","namespace":"default"}}})"}),
              StartsWith("422"));
}

// CVE-2021-25737: endpoints that point to the node itself or to link-local addresses.
TEST_F(CveTest, Y2021_25737_EndpointsRejectLoopbackAndLinkLocalAddresses) {
  for (const char* ip : {"127.0.0.1", "127.1.2.3", "169.254.169.254", "224.0.0.1", "0.0.0.0"}) {
    EXPECT_EQ(
        Code({.method = "POST",
              .target = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
              .body = std::string(R"({"metadata":{"generateName":"s"},"addressType":"IPv4",)") +
                      R"("endpoints":[{"addresses":[")" + ip + R"("]}]})"}),
        422)
        << ip;
    EXPECT_EQ(Code({.method = "POST",
                    .target = "/api/v1/namespaces/default/endpoints",
                    .body = std::string(R"({"metadata":{"generateName":"e"},"subsets":[{)") +
                            R"("ports":[{"port":80}],"addresses":[{"ip":")" + ip + R"("}]}]})"}),
              422)
        << ip;
  }
}

// CVE-2021-25740: users who may write endpoints can redirect the traffic of others.
TEST_F(CveTest, Y2021_25740_UserRolesCannotWriteEndpoints) {
  const auto names = [](const auto& list, std::string_view what) {
    return std::find(list.begin(), list.end(), what) != list.end();
  };
  size_t rules = 0;
  for (const rbac::v1::ClusterRole& role : BootstrapPolicy().cluster_roles) {
    if (!role.metadata.name.starts_with("system:aggregate-to-")) continue;
    for (const rbac::v1::PolicyRule& rule : role.rules) {
      ++rules;
      const bool endpoints = names(rule.resources, "endpoints") ||
                             names(rule.resources, "endpointslices") || names(rule.resources, "*");
      for (const char* verb : {"create", "update", "patch", "delete", "deletecollection", "*"}) {
        EXPECT_FALSE(endpoints && names(rule.verbs, verb)) << role.metadata.name << " " << verb;
      }
    }
  }
  EXPECT_GT(rules, 10U);
}

}  // namespace
}  // namespace cox::apiserver
