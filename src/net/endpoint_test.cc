// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <gtest/gtest.h>

namespace cox::net {
namespace {

TEST(EndpointTest, ReportsThePortItListensOn) {
  RealClock clock;
  Context ctx(clock);
  const auto answer = [](Context&, const Request&) { return Response(); };
  const auto first = Endpoint::Start(ctx, "test", {"127.0.0.1", 0}, answer);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_NE((*first)->port(), 0);
  EXPECT_FALSE(Endpoint::Start(ctx, "test", {"127.0.0.1", (*first)->port()}, answer).ok());
  EXPECT_TRUE(Endpoint::Start(ctx, "test", {"", 0}, answer).ok());
}

}  // namespace
}  // namespace cox::net
