// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

class BindingTest : public ::testing::Test {
 protected:
  static std::string PodsPath() { return "/api/v1/namespaces/default/pods"; }
  Value Json(int code, FakeRequest request) {
    FakeCall call = api_.Do(std::move(request));
    EXPECT_EQ(call.exchange().status(), code) << call.exchange().Body();
    Result<Value> body = json::Parse(call.exchange().Body());
    return body.ok() ? *body : Value();
  }
  void CreatePod(const std::string& name, const std::string& spec_members = "") {
    Json(201, {.method = "POST",
               .target = PodsPath(),
               .body = R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec_members +
                       R"("containers":[{"name":"c","image":"i"}]}})"});
  }
  void Nominate(const std::string& name, const std::string& node) {
    Json(200, {.method = "PATCH",
               .target = PodsPath() + "/" + name + "/status",
               .body = R"({"status":{"nominatedNodeName":")" + node + R"("}})",
               .headers = {{"content-type", "application/merge-patch+json"}}});
  }
  void Bind(int code, const std::string& name, const std::string& node) {
    Json(code, {.method = "POST",
                .target = PodsPath() + "/" + name + "/binding",
                .body = R"({"metadata":{"name":")" + name +
                        R"("},"target":{"kind":"Node","name":")" + node + R"("}})"});
  }
  core::v1::Pod Get(const std::string& name) {
    FakeCall call = api_.Do({.target = PodsPath() + "/" + name});
    Result<core::v1::Pod> pod = json::Decode<core::v1::Pod>(call.exchange().Body());
    EXPECT_TRUE(pod.ok()) << call.exchange().Body();
    return pod.ok() ? *pod : core::v1::Pod{};
  }

  ApiHarness api_;
};

TEST_F(BindingTest, ClearsNominatedNodeName) {
  for (const std::string node : {"nominated", "other"}) {
    const std::string name = "on-" + node;
    CreatePod(name);
    Nominate(name, "nominated");
    ASSERT_EQ(Get(name).status.nominatedNodeName, "nominated");
    Bind(201, name, node);
    const core::v1::Pod bound = Get(name);
    EXPECT_EQ(bound.spec.nodeName, node);
    EXPECT_EQ(bound.status.nominatedNodeName, "");
  }
}

TEST_F(BindingTest, RejectedBindingKeepsNominatedNodeName) {
  CreatePod("gated", R"("schedulingGates":[{"name":"example.com/g"}],)");
  Nominate("gated", "nominated");
  Bind(409, "gated", "nominated");
  EXPECT_EQ(Get("gated").status.nominatedNodeName, "nominated");
  EXPECT_EQ(Get("gated").spec.nodeName, "");
}

}  // namespace
}  // namespace cox::apiserver
