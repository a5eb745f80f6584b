// SPDX-License-Identifier: Apache-2.0
#include "base/process_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace cox {
namespace {

using testing::HasSubstr;
using testing::Not;

// Uses a fake /proc.
class ProcessMetricsTest : public testing::Test {
 protected:
  ProcessMetricsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cox_procXXXXXX").string();
    proc_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(proc_ + "/self/fd");
  }
  ~ProcessMetricsTest() override { std::filesystem::remove_all(proc_); }

  void Write(const std::string& path, const std::string& content) {
    std::ofstream(proc_ + path) << content;
  }

  std::string proc_;
};

TEST_F(ProcessMetricsTest, ReadsProcFiles) {
  // A hostile program name; 14 utime, 15 stime, 22 starttime, 23 vsize, 24 rss.
  Write("/self/stat",
        "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 8 0 1000 123456 77 0 0\n");
  Write("/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n");
  for (const char* fd : {"0", "1", "2"}) Write(std::string("/self/fd/") + fd, "");
  MetricsRegistry registry;
  const auto handles = AddProcessMetrics(registry, proc_);
  const std::string text = registry.Render();
  ASSERT_EQ(sysconf(_SC_CLK_TCK), 100);
  EXPECT_THAT(text,
              HasSubstr("# HELP process_cpu_seconds_total Total user and system CPU time spent in "
                        "seconds.\n# TYPE process_cpu_seconds_total counter\n"
                        "process_cpu_seconds_total 2\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE process_open_fds gauge\nprocess_open_fds 3\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_virtual_memory_bytes 123456\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_start_time_seconds 1.70000001e+09\n"));
  if (sysconf(_SC_PAGESIZE) == 4096) {
    EXPECT_THAT(text, HasSubstr("\nprocess_resident_memory_bytes 315392\n"));
  }
}

TEST_F(ProcessMetricsTest, UnreadableValuesAreOmitted) {
  for (const char* stat : {"", "garbage", "42 (x) S 1", "42 (x) S 1 2 3 4 5 6 7 8 9 10 x y z"}) {
    Write("/self/stat", stat);
    MetricsRegistry registry;
    const auto handles = AddProcessMetrics(registry, proc_);
    const std::string text = registry.Render();
    EXPECT_THAT(text, Not(HasSubstr("\nprocess_cpu_seconds_total "))) << stat;
    EXPECT_THAT(text, Not(HasSubstr("\nprocess_start_time_seconds "))) << stat;
    EXPECT_THAT(text, HasSubstr("process_open_fds 0\n"));
  }
  MetricsRegistry registry;
  const auto handles = AddProcessMetrics(registry, proc_ + "/absent");
  EXPECT_THAT(registry.Render(), Not(HasSubstr("\nprocess_open_fds ")));
}

TEST(ProcessMetrics, AllMetricsExistForThisProcess) {
  MetricsRegistry registry;
  {
    const auto handles = AddProcessMetrics(registry);
    const std::string text = registry.Render();
    for (const char* name : {"process_cpu_seconds_total", "process_max_fds", "process_open_fds",
                             "process_resident_memory_bytes", "process_start_time_seconds",
                             "process_virtual_memory_bytes"}) {
      EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " ")) << name;
    }
  }
  EXPECT_EQ(registry.Render(), "");
}

}  // namespace
}  // namespace cox
