// SPDX-License-Identifier: Apache-2.0
#include "kind_churn.h"

namespace cox::testkit {
namespace {

void Report(const char* what, const KindChurn::Times& times) {
  std::printf("%s: %zu answers, median %.1f ms, longest %.1f ms\n", what, times.all.size(),
              times.Median(), times.Longest());
}

TEST(ServedKindsTimingTest, DiscoveryAndOpenApiAreUpdatedWithin100Milliseconds) {
  KindChurn churn(TestClusterOptions::Storage::kMemory);
  ASSERT_TRUE(churn.started());
  for (int i = 0; i < 200; ++i) {
    churn.Cycle(i, i % 10 == 0 ? KindChurn::OpenApi::kBoth : KindChurn::OpenApi::kV3);
  }
  churn.Finish();
  Report("discovery", churn.discovery());
  Report("OpenAPI v3", churn.openapi_v3());
  Report("OpenAPI v2", churn.openapi_v2());
  std::printf("%lld reads of other kinds\n", static_cast<long long>(churn.reads()));
  EXPECT_LT(churn.discovery().Longest(), 100);
  EXPECT_LT(churn.openapi_v3().Longest(), 100);
  EXPECT_LT(churn.openapi_v2().Longest(), 100);
}

}  // namespace
}  // namespace cox::testkit
