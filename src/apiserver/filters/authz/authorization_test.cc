// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/authorization.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"

namespace cox::apiserver {
namespace {

class AuthorizationTest : public ::testing::Test {
 protected:
  AuthorizationTest() { std::filesystem::create_directories(folder_); }
  ~AuthorizationTest() override { std::filesystem::remove_all(folder_); }

  // Replaces the file atomically.
  void Write(const std::string& text) {
    std::ofstream(folder_ / "new") << text;
    std::filesystem::rename(folder_ / "new", folder_ / "config");
  }
  static std::string One(const std::string& type) {
    return "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
           "authorizers: [{type: " +
           type + ", name: a}]\n";
  }
  // The file is reloaded asynchronously, so poll until the change takes effect.
  static bool Becomes(bool allowed, const Authorization& authorization) {
    const UserInfo user{.name = "alice", .uid = {}, .groups = {}, .extra = {}};
    RealClock clock;
    const Clock::SteadyTime end = clock.In(std::chrono::seconds(20));
    while (clock.Monotonic() < end) {
      if (authorization.Authorize(user, {}).allowed == allowed) return true;
      std::this_thread::yield();
    }
    return false;
  }

  // The metric follows the new contents, so poll until a reload with this result is counted.
  static bool IsCounted(const MetricsRegistry& registry, const std::string& result) {
    RealClock clock;
    const Clock::SteadyTime end = clock.In(std::chrono::seconds(20));
    while (clock.Monotonic() < end) {
      if (registry.Render().find("status=\"" + result + "\"} 1") != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }

  RealClock clock_;
  Context ctx_{clock_};
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("cox-authz-" + std::to_string(getpid()));
};

TEST_F(AuthorizationTest, ReloadsFileAndKeepsLastValidConfiguration) {
  AuthorizationOptions options;
  options.config_file = folder_ / "config";
  EXPECT_FALSE(Authorization::Create(ctx_, options).ok());  // the file does not exist
  Write(One("Nonesuch"));
  EXPECT_FALSE(Authorization::Create(ctx_, options).ok());
  Write(One("AlwaysDeny"));
  MetricsRegistry registry;
  const auto reloads = std::make_shared<ConfigReloadMetrics>(registry, "authorization", "id");
  const auto authorization = Authorization::Create(ctx_, options, reloads);
  ASSERT_TRUE(authorization.ok()) << authorization.status().message();
  EXPECT_TRUE(Becomes(false, **authorization));
  EXPECT_EQ(registry.Render().find("status=\"success\""), std::string::npos);  // the first read
  Write(One("AlwaysAllow"));
  EXPECT_TRUE(Becomes(true, **authorization));
  EXPECT_TRUE(IsCounted(registry, "success"));
  Write("junk: [");
  Write(One("AlwaysDeny"));
  EXPECT_TRUE(Becomes(false, **authorization));
  Write("junk: [");
  EXPECT_TRUE(Becomes(false, **authorization));
}

TEST_F(AuthorizationTest, AuthorizersAreCalledInOrderOfModes) {
  AuthorizationOptions options;
  options.modes = {"AlwaysDeny", "AlwaysAllow"};  // AlwaysDeny has no opinion, despite its name
  const auto both = Authorization::Create(ctx_, options);
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(Becomes(true, **both));
  EXPECT_FALSE((*both)->MayBlock());
  options.modes = {"Webhook"};
  options.webhook.kubeconfig = folder_ / "nowhere";
  EXPECT_FALSE(Authorization::Create(ctx_, options).ok());
}

}  // namespace
}  // namespace cox::apiserver
