// SPDX-License-Identifier: Apache-2.0
#include "controllers/identity/rootca/root_ca_publisher.h"

#include "harness.h"

namespace cox::controllers {
namespace {

using core::v1::ConfigMap;
using testkit::WaitFor;

constexpr const char* kName = "kube-root-ca.crt";

class RootCaPublisherTest : public ControllerTest {
 protected:
  RootCaPublisherTest() { options.root_ca_pem = "the pem"; }

  static bool IsRight(const ConfigMap& map) {
    const std::string* pem = map.data.Get("ca.crt");
    return map.data.size() == 1 && pem != nullptr && *pem == "the pem" &&
           map.metadata.annotations.contains("kubernetes.io/description");
  }
  RootCaOptions options;
};

TEST_F(RootCaPublisherTest, EveryNamespaceHasTheCa) {
  Start({{AddRootCaPublisher, options}});
  EXPECT_TRUE(WaitFor<ConfigMap>(*ctx, client(), {"default", kName}, IsRight).ok());
  CreateNamespace("after");
  EXPECT_TRUE(WaitFor<ConfigMap>(*ctx, client(), {"after", kName}, IsRight).ok());
}

TEST_F(RootCaPublisherTest, ChangedOrDeletedConfigMapIsRestored) {
  Start({{AddRootCaPublisher, options}});
  auto map = WaitFor<ConfigMap>(*ctx, client(), {"default", kName}, IsRight);
  ASSERT_TRUE(map.ok());
  map->data = {{"ca.crt", "false"}, {"more", "x"}};
  const auto changed = client().Update(*ctx, *map);
  ASSERT_TRUE(changed.ok()) << changed.status().ToString();
  const auto repaired = WaitFor<ConfigMap>(*ctx, client(), {"default", kName}, IsRight);
  ASSERT_TRUE(repaired.ok());
  EXPECT_EQ(repaired->metadata.uid, map->metadata.uid);
  ASSERT_TRUE(client().Delete<ConfigMap>(*ctx, {"default", kName}).ok());
  EXPECT_TRUE(WaitFor<ConfigMap>(*ctx, client(), {"default", kName}, [&](const ConfigMap& again) {
                return IsRight(again) && again.metadata.uid != map->metadata.uid;
              }).ok());
}

TEST_F(RootCaPublisherTest, NothingIsPublishedWithoutCa) {
  Start({AddRootCaPublisher});
  EXPECT_FALSE(Exists<ConfigMap>({"default", kName}));
}

}  // namespace
}  // namespace cox::controllers
