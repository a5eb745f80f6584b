// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "apiserver/registry/unimplemented/features.h"
#include "apiserver/testing/call_harness.h"

// The warnings about parts of requests that are not implemented, in responses.
namespace cox::apiserver {
namespace {

constexpr std::string_view kSets = "/apis/apps/v1/namespaces/default/statefulsets";
constexpr std::string_view kSetWarning =
    R"(299 - "StatefulSet: not implemented: no controller creates its Pods")";
constexpr std::string_view kMergePatch = "application/merge-patch+json";

class UnimplementedWarningsTest : public ::testing::Test {
 protected:
  // Returns the first warning of the response, whose status must be `code`.
  std::string Warning(int code, FakeRequest request) {
    FakeCall call(api_.clock(), std::move(request));
    call->user.name = user_;
    HandleResource(api_.handlers(), call.shared());
    EXPECT_EQ(call.exchange().status(), code) << call.exchange().Body();
    return call.exchange().Header("warning");
  }
  std::string Create(std::string_view collection, std::string_view body) {
    return Warning(
        201, {.method = "POST", .target = std::string(collection), .body = std::string(body)});
  }
  std::string Patch(std::string_view collection, std::string_view name, std::string_view body,
                    std::string_view type = kMergePatch, int code = 200) {
    net::Headers headers;
    headers.Add("content-type", std::string(type));
    return Warning(code, {.method = "PATCH",
                          .target = std::string(collection) + "/" + std::string(name),
                          .body = std::string(body),
                          .headers = std::move(headers)});
  }
  static std::string Set(std::string_view name) {
    return R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":")" +
           std::string(name) +
           R"("},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":
           {"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  }

  ApiHarness api_;
  std::string user_ = "alice";
};

TEST_F(UnimplementedWarningsTest, CreateUpdateAndPatchReturnWarnings) {
  EXPECT_EQ(Create(kSets, Set("a")), kSetWarning);
  EXPECT_EQ(Patch(kSets, "a", R"({"spec":{"replicas":3}})"), kSetWarning);
  EXPECT_EQ(Warning(200, {.method = "PUT", .target = std::string(kSets) + "/a", .body = Set("a")}),
            kSetWarning);
  EXPECT_EQ(Patch(kSets, "b?fieldManager=test", Set("b"), "application/apply-patch+yaml", 201),
            kSetWarning);
}

TEST_F(UnimplementedWarningsTest, MetadataAndStatusUpdatesReturnNone) {
  ASSERT_EQ(Create(kSets, Set("a")), kSetWarning);
  EXPECT_EQ(Patch(kSets, "a", R"({"metadata":{"labels":{"x":"y"}}})"), "");
  EXPECT_EQ(Patch(kSets, "a/status", R"({"status":{"replicas":1}})"), "");
  EXPECT_EQ(Warning(200, {.method = "GET", .target = std::string(kSets) + "/a"}), "");
}

TEST_F(UnimplementedWarningsTest, ComponentsGetNone) {
  user_ = "system:kube-controller-manager";
  EXPECT_EQ(Create(kSets, Set("a")), "");
}

TEST_F(UnimplementedWarningsTest, RejectedRequestsReturnNone) {
  EXPECT_EQ(Warning(422, {.method = "POST",
                          .target = std::string(kSets),
                          .body = R"({"metadata":{"name":"a"}})"}),
            "");
}

TEST_F(UnimplementedWarningsTest, ResizeOfPodReturnsWarning) {
  constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
  EXPECT_EQ(Create(kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",
                "image":"i","resources":{"requests":{"cpu":"1"}}}]}})"),
            "");
  EXPECT_EQ(Patch(kPods, "p", R"({"metadata":{"labels":{"x":"y"}}})"), "");
  EXPECT_EQ(Patch(kPods, "p/resize",
                  R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]}})",
                  "application/strategic-merge-patch+json"),
            R"(299 - "Pod/resize: not implemented: the kubelet does not change the resources of )"
            R"(running containers")");
}

TEST_F(UnimplementedWarningsTest, TableNamesStoredVersions) {
  for (const Feature& feature : UnimplementedFeatures()) {
    if (feature.kind == nullptr) continue;
    const KindInfo& kind = *feature.kind;
    const auto found = api_.registry().Find(kind.group, kind.version, kind.plural);
    ASSERT_NE(found, nullptr) << kind.kind;
    EXPECT_EQ(&found->strategy().kind(), &kind) << kind.kind;
  }
  for (const PodSpecPath& spec : PodSpecPaths()) {
    const auto found =
        api_.registry().Find(spec.kind->group, spec.kind->version, spec.kind->plural);
    ASSERT_NE(found, nullptr) << spec.kind->kind;
    EXPECT_EQ(&found->strategy().kind(), spec.kind) << spec.kind->kind;
  }
}

}  // namespace
}  // namespace cox::apiserver
