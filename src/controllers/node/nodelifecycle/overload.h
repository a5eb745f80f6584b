// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/context.h"
#include "base/mutex.h"

// Distinguishes dead nodes from an overloaded control plane: both look like missing heartbeats.
// docs/adr/0020-overload-does-not-mark-nodes-as-failed.md has the reasons.
namespace cox::controllers {

// The heartbeats and the state of the API server, as the controller sees them when it examines a
// node.
struct NodeEvidence {
  Clock::Duration silent{};  // since the node's last heartbeat
  Clock::Duration grace{};   // --node-monitor-grace-period or --node-startup-grace-period
  // The heartbeats of all nodes during the last half of the grace period; see Heartbeats for which
  // of them are late.
  size_t on_time = 0;
  size_t late = 0;
  Clock::Duration longest_gap{};  // before the late ones
  // How long the API server has committed test writes in time; none: the last one was slow, failed,
  // or there was none yet.
  std::optional<Clock::Duration> responsive;
};

enum class NodeVerdict : uint8_t {
  kAlive,  // the grace period has not ended
  kMark,   // the node does not send heartbeats
  kWait,   // the control plane may not receive heartbeats; examine again later
};

// Late heartbeats are a sign of overload from this number and from a quarter of all heartbeats on.
inline constexpr size_t kMinLate = 3;
// During overload, a node is dead if its silence is this number of times longer than the longest
// gap after which another node renewed its Lease.
inline constexpr int kGapsUntilDead = 4;

// The time for which the API server must be responsive before nodes are marked although no node at
// all sends heartbeats: then all nodes may be waiting for a control plane that has just recovered.
Clock::Duration SettlingTime(Clock::Duration grace);

// Pure. See docs/controllers.md for the rules.
NodeVerdict ExamineNode(const NodeEvidence& evidence);

// Counts the heartbeats of a sliding window. Constant memory and time.
//
// Threads: one at a time.
class HeartbeatGaps {
 public:
  explicit HeartbeatGaps(Clock::Duration window) : window_(window) {}

  struct Recent {
    size_t on_time = 0;
    size_t late = 0;
    Clock::Duration longest{};
  };
  // Counts a heartbeat. `gap`: since the previous one of the same node. It is late if that is
  // longer than the window and than `limit`.
  void Note(Clock::SteadyTime now, Clock::Duration gap, Clock::Duration limit = {});
  Recent Read(Clock::SteadyTime now);

 private:
  static constexpr size_t kBuckets = 5;
  struct Bucket {
    int64_t number = INT64_MIN;
    Recent counts;
  };
  int64_t NumberOf(Clock::SteadyTime now) const;

  const Clock::Duration window_;
  std::array<Bucket, kBuckets> buckets_;
};

// Measures whether the API server commits writes in time, by test writes on demand.
//
// Guarantees: at most one test write is in flight, and one is sent per kPeriod. A test write that
//   does not succeed within kLimit fails.
// Threads: all methods may be called concurrently.
class ControlPlaneProbe {
 public:
  static constexpr std::chrono::seconds kLimit{2};
  static constexpr std::chrono::seconds kPeriod{5};
  // Test writes with longer pauses do not show that the API server was responsive in between.
  static constexpr std::chrono::seconds kLongestPause{15};

  // Makes a test write. OK if it was processed.
  using Write = std::function<Status(Context& ctx)>;
  // `on_recovery` is called when a test write succeeds after one that failed, at most kLongestPause
  // later.
  ControlPlaneProbe(Write write, std::function<void()> on_recovery)
      : write_(std::move(write)), on_recovery_(std::move(on_recovery)) {}

  // Returns how long test writes have succeeded without a failure, see NodeEvidence::responsive.
  // Makes a test write if the last one is older than kPeriod, and waits for its end.
  std::optional<Clock::Duration> Check(Context& ctx);

 private:
  bool WriteInTime(Context& ctx, bool failed_before);

  const Write write_;
  const std::function<void()> on_recovery_;
  Mutex mu_;
  CondVar changed_;
  bool running_ COX_GUARDED_BY(mu_) = false;
  bool failed_ COX_GUARDED_BY(mu_) = false;
  std::optional<Clock::SteadyTime> last_ COX_GUARDED_BY(mu_);   // the end of the last one
  std::optional<Clock::SteadyTime> since_ COX_GUARDED_BY(mu_);  // the first success of the series
};

}  // namespace cox::controllers
