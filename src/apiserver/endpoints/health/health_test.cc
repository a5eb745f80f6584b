// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/health/health.h"

#include "apiserver/testing/call_harness.h"

namespace cox::apiserver {
namespace {

class HealthTest : public ::testing::Test {
 protected:
  // Returns "200 text", or "none" for a path that is not a health path.
  std::string Get(const std::string& target) {
    FakeCall call(clock_, {.target = target});
    if (!health_.Handle(*call)) return "none";
    EXPECT_EQ(call.exchange().Header("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(call.exchange().Header("x-content-type-options"), "nosniff");
    return std::to_string(call.exchange().status()) + " " + call.exchange().Body();
  }

  TestClock clock_;
  Status disk_;
  Health health_{{
      {"ping", [] { return Status(); }},
      {"disk", [this] { return disk_; }},
      {"only-ready", [] { return Status(); }, HealthCheck::kReadyz},
  }};
};

TEST_F(HealthTest, RespondsWithOkOnlyUnlessVerbose) {
  for (std::string_view path : {"/livez", "/readyz", "/healthz", "/healthz/"}) {
    EXPECT_EQ(Get(std::string(path)), "200 ok") << path;
  }
  EXPECT_EQ(Get("/livez?verbose"), "200 [+]ping ok\n[+]disk ok\nlivez check passed\n");
  EXPECT_EQ(Get("/readyz?verbose=true"),
            "200 [+]ping ok\n[+]disk ok\n[+]only-ready ok\nreadyz check passed\n");
}

TEST_F(HealthTest, FailedCheckIsListedWithoutReason) {
  disk_ = Status::Unavailable("sector 7");
  EXPECT_EQ(Get("/livez"), "500 [+]ping ok\n[-]disk failed: reason withheld\nlivez check failed\n");
  EXPECT_EQ(Get("/readyz"),
            "500 [+]ping ok\n[-]disk failed: reason withheld\n[+]only-ready ok\n"
            "readyz check failed\n");
}

TEST_F(HealthTest, ChecksCanBeExcluded) {
  disk_ = Status::Unavailable("sector 7");
  EXPECT_EQ(Get("/livez?exclude=disk"), "200 ok");
  EXPECT_EQ(Get("/livez?verbose&exclude=disk&exclude=ping"),
            "200 [+]ping excluded: ok\n[+]disk excluded: ok\nlivez check passed\n");
}

TEST_F(HealthTest, EachCheckHasAPath) {
  EXPECT_EQ(Get("/livez/ping"), "200 ok");
  EXPECT_EQ(Get("/readyz/only-ready"), "200 ok");
  EXPECT_EQ(Get("/livez/only-ready"), "none");
  EXPECT_EQ(Get("/livez/nothing"), "none");
  EXPECT_EQ(Get("/livezz"), "none");
  disk_ = Status::Unavailable("sector 7");
  EXPECT_EQ(Get("/healthz/disk"), "500 internal server error: sector 7\n");
  EXPECT_EQ(health_.paths(),
            (std::vector<std::string>{"/livez", "/livez/ping", "/livez/disk", "/readyz",
                                      "/readyz/ping", "/readyz/disk", "/readyz/only-ready",
                                      "/healthz", "/healthz/ping", "/healthz/disk"}));
}

TEST_F(HealthTest, ResultsAreMetrics) {
  const auto contains = [](const std::string& text, const std::string& line) {
    return text.find(line + "\n") != std::string::npos;
  };
  EXPECT_EQ(Get("/livez/disk"), "200 ok");
  disk_ = Status::Unavailable("sector 7");
  (void)Get("/livez");
  const std::string text = health_.Slis();
  EXPECT_TRUE(contains(text, R"(kubernetes_healthcheck{name="disk",type="livez"} 0)")) << text;
  EXPECT_TRUE(contains(text, R"(kubernetes_healthcheck{name="ping",type="livez"} 1)")) << text;
  const std::string total = "kubernetes_healthchecks_total{name=\"disk\",status=";
  EXPECT_TRUE(contains(text, total + R"("success",type="livez"} 1)")) << text;
  EXPECT_TRUE(contains(text, total + R"("error",type="livez"} 2)")) << text;
  EXPECT_TRUE(contains(text, total + R"("error",type="readyz"} 1)")) << text;
  EXPECT_EQ(text.find(R"(name="only-ready",type="livez")"), std::string::npos) << text;
}

TEST(ApiServerChecks, ReflectStartupSyncAndShutdown) {
  TestClock clock;
  auto started = std::make_shared<std::atomic<bool>>(false);
  auto draining = std::make_shared<std::atomic<bool>>(false);
  bool synced = false;
  Status etcd;
  const Health health(
      ApiServerChecks([&] { return etcd; }, [&] { return synced; }, started, draining));
  auto status = [&](std::string target) {
    FakeCall call(clock, {.target = std::move(target)});
    EXPECT_TRUE(health.Handle(*call));
    return call.exchange().status();
  };
  EXPECT_EQ(status("/readyz"), 500);
  EXPECT_EQ(status("/readyz/informer-sync"), 500);
  EXPECT_EQ(status("/livez/poststarthook/rbac/bootstrap-roles"), 500);
  synced = true;
  *started = true;
  for (std::string_view path : {"/livez", "/readyz", "/healthz"}) {
    EXPECT_EQ(status(std::string(path)), 200) << path;
  }
  *draining = true;
  EXPECT_EQ(status("/readyz"), 500);
  EXPECT_EQ(status("/livez"), 200);
  *draining = false;
  etcd = Status::Unavailable("gone");
  EXPECT_EQ(status("/livez/etcd"), 500);
  EXPECT_EQ(status("/livez?exclude=etcd"), 200);
}

}  // namespace
}  // namespace cox::apiserver
