// SPDX-License-Identifier: Apache-2.0
#include "kubelet/probes/probe_state.h"

#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

// Observes results ("+" and "-"); returns the outcome after each: "?" unknown, "S", "F".
std::string Outcomes(ProbeType type, int success, int failure, std::string_view looks) {
  ProbeState state(type, {.successThreshold = success, .failureThreshold = failure});
  std::string out;
  for (const char look : looks) {
    (void)state.Observe(look == '+');
    out += "?SF"[static_cast<int>(state.outcome())];
  }
  return out;
}

TEST(ProbeStateTest, ThresholdsCountConsecutiveResults) {
  const struct {
    int success, failure;
    std::string looks, want;
  } kCases[] = {
      {1, 3, "+", "S"},
      {1, 3, "---", "??F"},
      {1, 3, "+--+---", "SSSSSSF"},
      {1, 1, "-+-", "FSF"},
      {2, 2, "++-+--+-++", "?SSSSFFFFS"},
      {0, 0, "+---", "SSSF"},  // the API's defaults: 1 and 3
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Outcomes(ProbeType::kReadiness, c.success, c.failure, c.looks), c.want) << c.looks;
  }
}

TEST(ProbeStateTest, ReportsChanges) {
  ProbeState state(ProbeType::kReadiness, {.successThreshold = 1, .failureThreshold = 2});
  EXPECT_EQ(state.Observe(true), ProbeOutcome::kSuccess);
  EXPECT_EQ(state.Observe(true), std::nullopt);
  EXPECT_EQ(state.Observe(false), std::nullopt);
  EXPECT_EQ(state.Observe(false), ProbeOutcome::kFailure);
  EXPECT_EQ(state.Observe(false), std::nullopt);
}

TEST(ProbeStateTest, IsDoneWhenOutcomeIsFinal) {
  const core::v1::Probe probe{.successThreshold = 1, .failureThreshold = 1};
  const struct {
    ProbeType type;
    bool after_success, after_failure;
  } kCases[] = {{ProbeType::kStartup, true, true},
                {ProbeType::kLiveness, false, true},
                {ProbeType::kReadiness, false, false}};
  for (const auto& c : kCases) {
    ProbeState good(c.type, probe);
    (void)good.Observe(true);
    EXPECT_EQ(good.done(), c.after_success) << ProbeTypeName(c.type);
    ProbeState bad(c.type, probe);
    (void)bad.Observe(false);
    EXPECT_EQ(bad.done(), c.after_failure) << ProbeTypeName(c.type);
  }
}

}  // namespace
}  // namespace cox::kubelet
