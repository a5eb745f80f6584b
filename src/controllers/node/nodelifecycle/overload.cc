// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodelifecycle/overload.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"

namespace cox::controllers {

Clock::Duration SettlingTime(Clock::Duration grace) { return grace / 5; }

NodeVerdict ExamineNode(const NodeEvidence& evidence) {
  if (evidence.silent < evidence.grace) return NodeVerdict::kAlive;
  if (!evidence.responsive.has_value()) return NodeVerdict::kWait;
  if (evidence.on_time + evidence.late == 0) {
    const bool settled = *evidence.responsive >= SettlingTime(evidence.grace);
    return settled ? NodeVerdict::kMark : NodeVerdict::kWait;
  }
  const bool overload = evidence.late >= kMinLate && evidence.late * 3 >= evidence.on_time;
  if (overload && evidence.silent < evidence.longest_gap * kGapsUntilDead) {
    return NodeVerdict::kWait;
  }
  return NodeVerdict::kMark;
}

int64_t HeartbeatGaps::NumberOf(Clock::SteadyTime now) const {
  const Clock::Duration width =
      std::max<Clock::Duration>(window_ / kBuckets, std::chrono::milliseconds(1));
  return now.time_since_epoch() / width;
}

void HeartbeatGaps::Note(Clock::SteadyTime now, Clock::Duration gap, Clock::Duration limit) {
  const int64_t number = NumberOf(now);
  // The clock's epoch is arbitrary, so the number may be negative.
  Bucket& bucket = buckets_[static_cast<uint64_t>(number) % kBuckets];
  if (bucket.number != number) bucket = {.number = number, .counts = {}};
  const bool late = gap > std::max(window_, limit);
  ++(late ? bucket.counts.late : bucket.counts.on_time);
  if (late) bucket.counts.longest = std::max(bucket.counts.longest, gap);
}

HeartbeatGaps::Recent HeartbeatGaps::Read(Clock::SteadyTime now) {
  const int64_t number = NumberOf(now);
  Recent recent;
  for (const Bucket& bucket : buckets_) {
    if (bucket.number <= number - static_cast<int64_t>(kBuckets) || bucket.number > number) {
      continue;
    }
    recent.on_time += bucket.counts.on_time;
    recent.late += bucket.counts.late;
    recent.longest = std::max(recent.longest, bucket.counts.longest);
  }
  return recent;
}

std::optional<Clock::Duration> ControlPlaneProbe::Check(Context& ctx) {
  MutexLock lock(mu_);
  // A stopped context means that the controller ends, and nothing is marked.
  if (!ctx.Await(mu_, changed_,
                 [this] {
                   mu_.AssertHeld();
                   return !running_;
                 })
           .ok()) {
    return std::nullopt;
  }
  const Clock& clock = ctx.clock();
  const Clock::Duration age =
      last_.has_value() ? clock.Monotonic() - *last_ : Clock::Duration::max();
  if (age >= kPeriod) {
    // Nothing is known about the time since then.
    if (age > kLongestPause) {
      since_.reset();
      failed_ = false;
    }
    running_ = true;
    const bool failed_before = failed_;
    lock.Unlock();
    const bool in_time = WriteInTime(ctx, failed_before);
    // Before other threads use the result, because they may mark nodes then.
    if (in_time && failed_before) on_recovery_();
    lock.Lock();
    running_ = false;
    failed_ = !in_time;
    last_ = clock.Monotonic();
    if (!in_time) since_.reset();
    if (in_time && !since_.has_value()) since_ = last_;
    changed_.NotifyAll();
  }
  if (!since_.has_value()) return std::nullopt;
  return clock.Monotonic() - *since_;
}

bool ControlPlaneProbe::WriteInTime(Context& ctx, bool failed_before) {
  const Clock::SteadyTime began = ctx.clock().Monotonic();
  Context attempt = ctx.WithTimeout(kLimit);
  const Status written = write_(attempt);
  const Clock::Duration took = ctx.clock().Monotonic() - began;
  const bool in_time = written.ok() && took <= kLimit;
  if (in_time && failed_before) {
    COX_INFO(ctx.log(), "The API server is responsive again: all nodes get a new grace period");
  } else if (!in_time && !failed_before) {
    COX_WARNING(ctx.log(), "The API server is slow or unreachable: no nodes are marked",
                {"took", FormatDuration(took)}, {"why", written.message()});
  }
  return in_time;
}

}  // namespace cox::controllers
