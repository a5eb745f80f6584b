// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/payload/payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/test_clock.h"
#include "kubelet/testing/fake_objects.h"
#include "kubelet/testing/fake_tokens.h"
#include "kubelet/testing/test_pods.h"

namespace cox::kubelet {
namespace {

using testing::FakeObjects;
using testing::FakeTokens;
using testing::MakePod;

class PayloadTest : public ::testing::Test {
 protected:
  PayloadTest() {
    objects_.PutConfigMap("map", {{"a", "1"}, {"b", "2"}});
    objects_.PutSecret("secret", {{"k", "s"}});
  }
  // "path=data:mode" of each file, or the error.
  std::string Files(const std::string& volume,
                    const std::string& spec = R"("containers":[{"name":"c"}])") {
    auto pod = MakePod("{" + spec + R"(,"volumes":[{"name":"v",)" + volume + "}]}");
    pod.metadata.labels = {{"app", "web"}};
    const auto got = CollectPayload(ctx_, pod, pod.spec.volumes[0].volumeSource,
                                    {objects_, tokens_, {.allocatable_milli_cpu = 2000}});
    if (!got.ok()) return got.status().message();
    refresh_ = got->refresh;
    std::string out;
    for (const auto& [path, file] : got->files) {
      char mode[16];
      std::snprintf(mode, sizeof(mode), "%o", file.mode);
      out += (out.empty() ? "" : " ") + path + "=" + file.data + ":" + mode;
      if (file.owner) out += "@" + std::to_string(*file.owner);
    }
    return out;
  }

  TestClock clock_;
  Context ctx_{clock_};
  FakeObjects objects_;
  FakeTokens tokens_;
  std::optional<Clock::WallTime> refresh_;
};

TEST_F(PayloadTest, ConfigMapsAndSecrets) {
  const std::pair<std::string, std::string> kCases[] = {
      {R"("configMap":{"name":"map"})", "a=1:644 b=2:644"},
      {R"("configMap":{"name":"map","defaultMode":256})", "a=1:400 b=2:400"},
      {R"("configMap":{"name":"map","items":[{"key":"a","path":"x/y","mode":511}]})", "x/y=1:777"},
      {R"("configMap":{"name":"map","items":[{"key":"z","path":"z"}]})",
       "configmap references non-existent config key: z"},
      {R"("configMap":{"name":"map","optional":true,"items":[{"key":"z","path":"z"},{"key":"a","path":"a"}]})",
       "a=1:644"},
      {R"("configMap":{"name":"none"})", "configmap \"none\" not found"},
      {R"("configMap":{"name":"none","optional":true})", ""},
      {R"("secret":{"secretName":"secret","defaultMode":288})", "k=s:440"},
      {R"("secret":{"secretName":"secret","items":[{"key":"z","path":"z"}]})",
       "references non-existent secret key: z"},
      {R"("secret":{"secretName":"none","optional":true})", ""},
  };
  for (const auto& [volume, want] : kCases) EXPECT_EQ(Files(volume), want) << volume;
}

TEST_F(PayloadTest, IncludesBinaryData) {
  core::v1::ConfigMap map;
  map.metadata.namespace_ = "default";
  map.metadata.name = "bin";
  map.binaryData = {{"z", std::string("\0\xff", 2)}};
  objects_.Put(map);
  EXPECT_EQ(Files(R"("configMap":{"name":"bin"})"), "z=" + std::string("\0\xff", 2) + ":644");
}

TEST_F(PayloadTest, DownwardApi) {
  EXPECT_EQ(Files(R"("downwardAPI":{"items":[
      {"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}},
      {"path":"cpu","mode":256,"resourceFieldRef":{"containerName":"c","resource":"limits.cpu"}}]})"),
            "cpu=2:400 labels=app=\"web\":644");
  EXPECT_EQ(Files(R"("downwardAPI":{"items":[{"path":"x","fieldRef":{"fieldPath":"spec.y"}}]})"),
            "unsupported fieldPath: spec.y");
}

TEST_F(PayloadTest, ProjectedMergesAllSources) {
  const std::string volume = R"("projected":{"defaultMode":420,"sources":[
      {"serviceAccountToken":{"path":"token","expirationSeconds":3607}},
      {"configMap":{"name":"map","items":[{"key":"a","path":"ca.crt"}]}},
      {"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}},
      {"secret":{"name":"secret"}}]})";
  EXPECT_EQ(Files(volume), "ca.crt=1:644 k=s:644 namespace=default:644 token=u1||3607:644");
  EXPECT_EQ(refresh_, tokens_.refresh);
  EXPECT_THAT(Files(R"("projected":{"sources":[{"clusterTrustBundle":{"path":"x"}}]})"),
              ::testing::HasSubstr("does not know"));
}

TEST_F(PayloadTest, TokenIsReadableOnlyByCommonUser) {
  const std::string volume = R"("projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]})";
  const std::pair<std::string, std::string> kCases[] = {
      {R"("containers":[{"name":"c"}])", "t=u1||3600:644"},
      {R"("securityContext":{"runAsUser":7},"containers":[{"name":"c"}])", "t=u1||3600:600@7"},
      {R"("securityContext":{"runAsUser":7},"containers":[{"name":"c","securityContext":{"runAsUser":8}},{"name":"d"}])",
       "t=u1||3600:644"},
      {R"("securityContext":{"fsGroup":9},"containers":[{"name":"c"}])", "t=u1||3600:600"},
  };
  for (const auto& [spec, want] : kCases) EXPECT_EQ(Files(volume, spec), want) << spec;
}

}  // namespace
}  // namespace cox::kubelet
