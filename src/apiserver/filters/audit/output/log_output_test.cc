// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/log_output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/scope.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

class LogOutputTest : public testing::Test {
 protected:
  ~LogOutputTest() override { fs::remove_all(dir_); }

  RealClock clock_;
  Context ctx_{clock_};
  const fs::path dir_ = fs::path(testing::TempDir()) / ("log_output." + std::to_string(getpid()));
  const std::string path_ = (dir_ / "audit.log").string();
};

TEST_F(LogOutputTest, ConcurrentEventsAreWrittenOnceAndUnbroken) {
  constexpr int kThreads = 8, kEvents = 500;
  {
    auto output = NewLogOutput(ctx_, {.path = path_});
    ASSERT_TRUE(output.ok()) << output.status().message();
    Scope scope(ctx_, "test");
    for (int t = 0; t < kThreads; ++t) {
      ASSERT_TRUE(scope
                      .Go("writer",
                          [&, t](Context& ctx) {
                            for (int i = 0; i < kEvents; ++i) {
                              auto event = std::make_shared<AuditEvent>();
                              // Different lengths, so that interleaved lines would be detected.
                              event->line = std::to_string(t) + "-" + std::to_string(i) +
                                            std::string(static_cast<size_t>(i % 50), '.') + "\n";
                              const AuditEventPtr shared = std::move(event);
                              EXPECT_EQ((*output)->Write(ctx, std::span(&shared, 1)).lost, 0u);
                            }
                          })
                      .ok());
    }
    scope.Wait();
    scope.Stop();
  }
  std::map<std::string, int> seen;
  std::map<char, int> last;
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) {
    const std::string key = line.substr(0, line.find('.'));
    ++seen[key];
    // Each thread waits for its own event, so its lines are in order.
    const int number = std::stoi(key.substr(2));
    EXPECT_GE(number, last[key[0]]) << key;
    last[key[0]] = number;
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kThreads * kEvents));
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST_F(LogOutputTest, LegacyFormatIsWrittenIfEnabled) {
  auto event = std::make_shared<AuditEvent>();
  event->line = "{}\n";
  event->legacy = "old\n";
  const AuditEventPtr shared = std::move(event);
  auto output = NewLogOutput(ctx_, {.path = path_, .legacy = true});
  ASSERT_TRUE(output.ok());
  EXPECT_EQ((*output)->Write(ctx_, std::span(&shared, 1)).lost, 0u);
  std::ifstream in(path_);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "old");
}

}  // namespace
}  // namespace cox::apiserver
