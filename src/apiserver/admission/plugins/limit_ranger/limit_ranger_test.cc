// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/testing/call_harness.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

class LimitRangerTest : public ::testing::Test {
 protected:
  std::string Post(const std::string& resource, const std::string& name, const std::string& spec) {
    return api_.Text({.method = "POST",
                      .target = "/api/v1/namespaces/default/" + resource,
                      .body = R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}"});
  }
  std::string Pod(const std::string& name, const std::string& resources) {
    return Post("pods", name,
                R"({"containers":[{"name":"c","image":"i","resources":)" + resources + "}]}");
  }
  std::string Patch(const std::string& target, const std::string& body) {
    return api_.Text({.method = "PATCH",
                      .target = "/api/v1/namespaces/default/" + target,
                      .body = body,
                      .headers = {{"content-type", "application/strategic-merge-patch+json"}}});
  }
  static bool Is(std::string_view answer, std::string_view code, std::string_view part = {}) {
    return answer.starts_with(code) && answer.find(part) != answer.npos;
  }

  ApiHarness api_;
};

TEST_F(LimitRangerTest, LimitRangeIsEffectiveImmediatelyInANewNamespace) {
  // The namespace is new: do not wait for the cache.
  std::string got = Post("limitranges", "l",
                         R"({"limits":[{"type":"Container","max":{"cpu":"1"},
                             "defaultRequest":{"cpu":"100m"}}]})");
  ASSERT_TRUE(Is(got, "201")) << got;
  got = Pod("given", "{}");
  EXPECT_TRUE(
      Is(got, "201", R"("kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request)"))
      << got;
  got = Pod("greedy", R"({"limits":{"cpu":"2"}})");
  EXPECT_TRUE(Is(got, "403",
                 R"(pods \"greedy\" is forbidden: maximum cpu usage per Container is 1, but )"
                 R"(limit is 2)"))
      << got;
}

TEST_F(LimitRangerTest, AllRangesOfTheNamespaceAreEnforced) {
  ASSERT_TRUE(
      Is(Post("limitranges", "a", R"({"limits":[{"type":"Pod","min":{"cpu":"1"}}]})"), "201"));
  ASSERT_TRUE(
      Is(Post("limitranges", "b", R"({"limits":[{"type":"Pod","max":{"cpu":"2"}}]})"), "201"));
  api_.Sync(core::v1::LimitRange::kKind);
  EXPECT_TRUE(Is(Pod("small", R"({"limits":{"cpu":"10m"}})"), "403", "minimum cpu usage per Pod"));
  EXPECT_TRUE(Is(Pod("large", R"({"limits":{"cpu":"3"}})"), "403", "maximum cpu usage per Pod"));
  EXPECT_TRUE(Is(Pod("right", R"({"limits":{"cpu":"2"}})"), "201"));
}

TEST_F(LimitRangerTest, PodUpdatesAreCheckedForResizeOnly) {
  ASSERT_TRUE(Is(Pod("p", R"({"limits":{"cpu":"5"},"requests":{"cpu":"5"}})"), "201"));
  ASSERT_TRUE(Is(Post("limitranges", "l", R"({"limits":[{"type":"Container","max":{"cpu":"4"},
             "default":{"memory":"1Gi"}}]})"),
                 "201"));
  api_.Sync(core::v1::LimitRange::kKind);
  std::string got = Patch("pods/p", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_TRUE(Is(got, "200")) << got;
  auto resize = [&](const std::string& cpu) {
    return Patch("pods/p/resize",
                 R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":")" + cpu +
                     R"("},"requests":{"cpu":")" + cpu + R"("}}}]}})");
  };
  got = resize("6");
  EXPECT_TRUE(Is(got, "403", "maximum cpu usage per Container is 4, but limit is 6")) << got;
  got = resize("3");
  EXPECT_TRUE(Is(got, "200")) << got;
  EXPECT_EQ(got.find("limit-ranger"), got.npos);  // no defaults for existing Pods
}

TEST_F(LimitRangerTest, ClaimsAreLimited) {
  ASSERT_TRUE(Is(Post("limitranges", "l", R"({"limits":[{"type":"PersistentVolumeClaim",
                     "max":{"storage":"5Gi"}}]})"),
                 "201"));
  api_.Sync(core::v1::LimitRange::kKind);
  auto claim = [](const std::string& storage) {
    return R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" + storage +
           R"("}}})";
  };
  EXPECT_TRUE(Is(Post("persistentvolumeclaims", "big", claim("6Gi")), "403", "but request is 6Gi"));
  EXPECT_TRUE(Is(Post("persistentvolumeclaims", "c", claim("2Gi")), "201"));
}

}  // namespace
}  // namespace cox::apiserver
