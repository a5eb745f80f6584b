// SPDX-License-Identifier: Apache-2.0
#include "kind_churn.h"
#include "storage/testing/etcd_server.h"

namespace cox::testkit {
namespace {

// Building the OpenAPI v2 document takes longer than everything else.
constexpr int kOpenApiV2Every = 50;

TEST(ServedKindsTest, AKindChangesAThousandTimesWithoutAClientThatNotices) {
  KindChurn churn(TestClusterOptions::Storage::kMemory);
  ASSERT_TRUE(churn.started());
  for (int i = 0; i < 1000 && !testing::Test::HasFailure(); ++i) {
    churn.Cycle(i, i % kOpenApiV2Every == 0);
  }
  churn.Finish();
}

TEST(ServedKindsTest, AKindChangesOverEtcdWithoutAClientThatNotices) {
  if (!storage::EtcdServer::Available()) GTEST_SKIP() << "etcd is not installed";
  KindChurn churn(TestClusterOptions::Storage::kEtcd);
  ASSERT_TRUE(churn.started());
  for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) {
    churn.Cycle(i, i % kOpenApiV2Every == 0);
  }
  churn.Finish();
}

}  // namespace
}  // namespace cox::testkit
