// SPDX-License-Identifier: Apache-2.0
#include "sdk/manager/health_checks.h"

#include <gtest/gtest.h>

#include "base/testing/test_clock.h"

namespace cox::sdk {
namespace {

class HealthChecksTest : public testing::Test {
 protected:
  std::string Ask(std::string_view path, std::string_view query = "") {
    const net::Response response = checks.Answer(ctx, path, query);
    std::string text = std::to_string(response.status) + " ";
    for (const Bytes& piece : response.body) text += piece.view();
    return text;
  }

  TestClock clock;
  Context ctx{clock};
  HealthChecks checks{"readyz"};
};

TEST_F(HealthChecksTest, PingIsTheDefaultCheck) {
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  EXPECT_EQ(Ask("/readyz", "verbose"), "200 [+]ping ok\nreadyz check passed\n");
  EXPECT_EQ(Ask("/readyz/ping"), "200 ok");
}

TEST_F(HealthChecksTest, FailedCheckFailsTheEndpointWithoutItsReason) {
  checks.Add("good", [](Context&) { return Status(); });
  checks.Add("bad", [](Context&) { return Status::Unavailable("no disk"); });
  EXPECT_EQ(Ask("/readyz"),
            "500 [+]good ok\n[-]bad failed: reason withheld\nreadyz check failed\n");
  EXPECT_EQ(Ask("/readyz/bad"), "500 internal server error: no disk\n");
  EXPECT_EQ(Ask("/readyz/good"), "200 ok");
  EXPECT_EQ(Ask("/readyz/none"), "404 404 page not found\n");
  EXPECT_EQ(Ask("/readyz", "exclude=bad&verbose=1"),
            "200 [+]good ok\n[+]bad excluded: ok\nreadyz check passed\n");
}

TEST_F(HealthChecksTest, CheckOfTheSameNameIsReplacedAndExceptionsFail) {
  checks.Add("a", [](Context&) { return Status::Internal("x"); });
  checks.Add("a", [](Context&) { return Status(); });
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  checks.Add("a", [](Context&) -> Status { throw std::runtime_error("oh"); });
  EXPECT_EQ(Ask("/readyz/a"), "500 internal server error: an exception escaped: oh\n");
}

TEST_F(HealthChecksTest, OwnsOnlyItsPaths) {
  EXPECT_TRUE(checks.Owns("/readyz"));
  EXPECT_TRUE(checks.Owns("/readyz/a"));
  EXPECT_FALSE(checks.Owns("/readyzz"));
  EXPECT_FALSE(checks.Owns("/healthz"));
  EXPECT_FALSE(checks.Owns(""));
}

}  // namespace
}  // namespace cox::sdk
