// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "kind_churn.h"
#include "storage/testing/etcd_server.h"

namespace cox::testkit {
namespace {

// The number of cycles in which the kind is added, changed and removed.
int Cycles() {
  const char* const given = std::getenv("COX_KIND_CYCLES");
  return given == nullptr ? 1000 : std::atoi(given);
}

// Building the documents of OpenAPI takes longer than everything else.
KindChurn::OpenApi OpenApiOf(int cycle) {
  if (cycle % 50 == 0) return KindChurn::OpenApi::kBoth;
  return cycle % 5 == 0 ? KindChurn::OpenApi::kV3 : KindChurn::OpenApi::kNone;
}

TEST(ServedKindsTest, ChangingKindDoesNotDisturbOtherClients) {
  KindChurn churn(TestClusterOptions::Storage::kMemory);
  ASSERT_TRUE(churn.started());
  for (int i = 0; i < Cycles() && !testing::Test::HasFailure(); ++i) {
    churn.Cycle(i, OpenApiOf(i));
  }
  churn.Finish();
}

TEST(ServedKindsTest, ChangingKindOverEtcdDoesNotDisturbOtherClients) {
  if (!storage::EtcdServer::Available()) GTEST_SKIP() << "etcd is not installed";
  KindChurn churn(TestClusterOptions::Storage::kEtcd);
  ASSERT_TRUE(churn.started());
  for (int i = 0; i < Cycles() / 10 && !testing::Test::HasFailure(); ++i) {
    churn.Cycle(i, OpenApiOf(i));
  }
  churn.Finish();
}

}  // namespace
}  // namespace cox::testkit
