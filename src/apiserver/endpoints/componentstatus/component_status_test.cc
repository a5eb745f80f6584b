// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/componentstatus/component_status.h"

#include <gmock/gmock.h>

#include "apiserver/testing/call_harness.h"
#include "net/testing/loopback.h"

namespace cox::apiserver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ComponentStatusTest : public ::testing::Test {
 protected:
  // Returns the status and the body; "not handled" if the request is for other endpoints.
  std::string Send(const std::string& method, const std::string& target,
                   net::Headers headers = {}) {
    FakeCall call(clock_, {.method = method, .target = target, .headers = std::move(headers)});
    if (!statuses_.Handle(*call.shared())) return "not handled";
    warning_ = call.exchange().Header("warning");
    return std::to_string(call.exchange().status()) + " " + call.exchange().Body();
  }

  TestClock clock_;
  std::string warning_;
  const ComponentStatuses statuses_{{
      {"etcd-0", [](Context&) -> Result<std::string> { return std::string("ok"); }},
      {"scheduler",
       [](Context&) -> Result<std::string> { return Status::Unavailable("no route"); }},
  }};
};

TEST_F(ComponentStatusTest, ListContainsAllComponents) {
  EXPECT_EQ(Send("GET", "/api/v1/componentstatuses"),
            R"(200 {"kind":"ComponentStatusList","apiVersion":"v1","metadata":{},"items":[)"
            R"({"metadata":{"name":"etcd-0"},)"
            R"("conditions":[{"type":"Healthy","status":"True","message":"ok"}]},)"
            R"({"metadata":{"name":"scheduler"},)"
            R"("conditions":[{"type":"Healthy","status":"False","message":"no route"}]}]})"
            "\n");
  EXPECT_THAT(warning_, HasSubstr("v1 ComponentStatus is deprecated in v1.19+"));
}

TEST_F(ComponentStatusTest, ListIsFilteredBySelectors) {
  const struct {
    std::string query;
    bool etcd, scheduler;
  } kCases[] = {
      {"fieldSelector=metadata.name%3Detcd-0", true, false},
      {"fieldSelector=metadata.name!%3Detcd-0", false, true},
      {"labelSelector=a", false, false},
      {"labelSelector=!a", true, true},
  };
  for (const auto& c : kCases) {
    const std::string list = Send("GET", "/api/v1/componentstatuses?" + c.query);
    EXPECT_EQ(list.find("etcd-0") != list.npos, c.etcd) << c.query;
    EXPECT_EQ(list.find("scheduler") != list.npos, c.scheduler) << c.query;
  }
  EXPECT_THAT(Send("GET", "/api/v1/componentstatuses?fieldSelector=status%3Dx"),
              HasSubstr("is not a known field selector"));
}

TEST_F(ComponentStatusTest, GetReturnsOneComponent) {
  EXPECT_THAT(Send("GET", "/api/v1/componentstatuses/etcd-0"),
              AllOf(HasSubstr("200 "), HasSubstr(R"("message":"ok")"), Not(HasSubstr("items"))));
  EXPECT_THAT(Send("GET", "/api/v1/componentstatuses/etcd-9"),
              AllOf(HasSubstr("404 "), HasSubstr(R"(componentstatus \"etcd-9\" not found)")));
}

TEST_F(ComponentStatusTest, TableHasOneRowPerComponent) {
  const net::Headers table = {{"accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  EXPECT_THAT(Send("GET", "/api/v1/componentstatuses", table),
              AllOf(HasSubstr(R"("cells":["etcd-0","Healthy","ok",""])"),
                    HasSubstr(R"("cells":["scheduler","Unhealthy","no route",""])")));
  const net::Headers partial = {
      {"accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}};
  EXPECT_THAT(Send("GET", "/api/v1/componentstatuses", partial), HasSubstr("406 "));
}

TEST_F(ComponentStatusTest, OtherRequestsAreNotHandled) {
  EXPECT_EQ(Send("POST", "/api/v1/componentstatuses"), "not handled");
  EXPECT_EQ(Send("HEAD", "/api/v1/componentstatuses"), "not handled");
  EXPECT_EQ(Send("GET", "/api/v1/componentstatuses?watch=1"), "not handled");
  EXPECT_EQ(Send("GET", "/api/v1/namespaces/default/componentstatuses"), "not handled");
  EXPECT_EQ(Send("GET", "/api/v1/componentstatuses/etcd-0/status"), "not handled");
  EXPECT_EQ(Send("GET", "/api/v1/pods"), "not handled");
}

TEST(LocalComponent, HealthIsThatOfTheHttpsServer) {
  int code = 200;
  net::Loopback server([&code](const net::ExchangePtr& exchange) {
    exchange->Send({.status = exchange->request().target == "/healthz" ? code : 404,
                    .headers = {},
                    .body = {Bytes::Static("ok")}});
  });
  const ComponentCheck check = LocalComponent("scheduler", server.server->port());
  const Result<std::string> healthy = check.check(server.context);
  ASSERT_TRUE(healthy.ok()) << healthy.status().message();
  EXPECT_EQ(*healthy, "ok");
  code = 500;
  EXPECT_THAT(check.check(server.context).status().message(), HasSubstr("HTTP status 500"));
}

TEST(LocalComponent, UnreachableComponentIsUnhealthy) {
  RealClock clock;
  Context ctx = Context(clock).WithTimeout(std::chrono::seconds(60));
  // Nothing can listen on port 0.
  EXPECT_THAT(LocalComponent("scheduler", 0).check(ctx).status().message(),
              HasSubstr("Get \"https://127.0.0.1:0/healthz\""));
}

}  // namespace
}  // namespace cox::apiserver
