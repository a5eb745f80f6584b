// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "coxswain/discovery.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kCore =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
    R"({"metadata":{"name":""},"versions":[{"version":"v1","freshness":"Current","resources":[)"
    R"({"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced",)"
    R"("verbs":["delete","list"]}]}]}]})";
constexpr std::string_view kGroups =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[)"
    R"({"metadata":{"name":"example.com"},"versions":[)"
    R"({"version":"v2","freshness":"Current","resources":[)"
    R"({"resource":"backups","responseKind":{"kind":"Backup"},"scope":"Namespaced","verbs":["get"]}]},)"
    R"({"version":"v1","freshness":"Current","resources":[)"
    R"({"resource":"backups","responseKind":{"kind":"Backup"},"scope":"Namespaced","verbs":["get"]},)"
    R"({"resource":"zones","responseKind":{"kind":"Zone"},"scope":"Cluster","verbs":["get"]},)"
    R"({"resource":"onlysub","scope":"Cluster"}]}]},)"
    R"({"metadata":{"name":"away.com"},"versions":[)"
    R"({"version":"v1","freshness":"Stale","resources":[)"
    R"({"resource":"things","responseKind":{"kind":"Thing"},"scope":"Cluster","verbs":[]}]}]}]})";

class DiscoverAllTest : public testing::Test {
 protected:
  Result<ServedResources> Ask(FakeTransport::Answer answer) {
    transport_ = std::make_shared<FakeTransport>(std::move(answer));
    client_ = MakeClient(transport_);
    return DiscoverAll(ctx_, *client_);
  }
  static std::string Names(const ServedResources& served, bool preferred) {
    std::string names;
    for (const ServedResource& one : served.resources) {
      if (one.preferred != preferred) continue;
      names += one.resource.gvk.group_version().ToString() + "/" + one.resource.plural + " ";
    }
    return names;
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<FakeTransport> transport_;
  std::unique_ptr<Client> client_;
};

TEST_F(DiscoverAllTest, AggregatedDiscoveryUsesTwoRequests) {
  const auto served = Ask([](const net::Request& request) {
    return FakeResponse::Json(std::string(request.target == "/api" ? kCore : kGroups));
  });
  ASSERT_TRUE(served.ok()) << served.status().ToString();
  EXPECT_EQ(transport_->requests().size(), 2u);
  EXPECT_EQ(Names(*served, true), "v1/pods example.com/v2/backups example.com/v1/zones ");
  EXPECT_EQ(Names(*served, false), "example.com/v1/backups ");

  const ServedResource& pods = served->resources[0];
  EXPECT_NE(pods.resource.info, nullptr) << "kinds with a struct are typed";
  EXPECT_TRUE(pods.Can("delete"));
  EXPECT_FALSE(pods.Can("watch"));
  const Resource* zones = served->Find({"example.com", "v1", "Zone"});
  ASSERT_NE(zones, nullptr);
  EXPECT_FALSE(zones->namespaced);
  EXPECT_EQ(zones->info, nullptr);
  EXPECT_EQ(served->Find({"example.com", "v2", "Zone"}), nullptr);
}

TEST_F(DiscoverAllTest, StaleGroupVersionsAreReportedAsFailed) {
  const auto served =
      Ask([](const net::Request&) { return FakeResponse::Json(std::string(kGroups)); });
  ASSERT_TRUE(served.ok());
  ASSERT_EQ(served->failed.size(), 2u) << "of /api and /apis, which answer alike here";
  EXPECT_EQ(served->failed[0].first.ToString(), "away.com/v1");
  EXPECT_EQ(served->Find({"away.com", "v1", "Thing"}), nullptr);
}

TEST_F(DiscoverAllTest, FallsBackToOneRequestPerGroupVersion) {
  const auto served = Ask([](const net::Request& request) {
    if (request.target == "/api") {
      return FakeResponse::Json(R"({"kind":"APIVersions","versions":["v1"]})");
    }
    if (request.target == "/apis") {
      return FakeResponse::Json(
          R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.com",)"
          R"("versions":[{"groupVersion":"example.com/v1","version":"v1"},)"
          R"({"groupVersion":"example.com/v2","version":"v2"},)"
          R"({"groupVersion":"example.com/v3","version":"v3"}],)"
          R"("preferredVersion":{"groupVersion":"example.com/v2","version":"v2"}}]})");
    }
    if (request.target == "/api/v1") {
      return FakeResponse::Json(
          R"({"kind":"APIResourceList","resources":[)"
          R"({"name":"pods","namespaced":true,"kind":"Pod","verbs":["list"]},)"
          R"({"name":"pods/status","namespaced":true,"kind":"Pod","verbs":["get"]}]})");
    }
    if (request.target == "/apis/example.com/v3") return FakeResponse::Json("", 503);
    return FakeResponse::Json(
        R"({"kind":"APIResourceList","resources":[)"
        R"({"name":"backups","namespaced":true,"kind":"Backup","verbs":["list"]}]})");
  });
  ASSERT_TRUE(served.ok()) << served.status().ToString();
  EXPECT_EQ(Names(*served, true), "v1/pods example.com/v2/backups ");
  EXPECT_EQ(Names(*served, false), "example.com/v1/backups ");
  ASSERT_EQ(served->failed.size(), 1u);
  EXPECT_EQ(served->failed[0].first.ToString(), "example.com/v3");
}

TEST_F(DiscoverAllTest, ReturnsTheErrorOfTheServer) {
  const auto served = Ask([](const net::Request&) { return FakeResponse::Json("", 403); });
  EXPECT_TRUE(served.status().Is(Reason::kForbidden));
}

}  // namespace
}  // namespace cox::sdk
