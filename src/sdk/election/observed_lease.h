// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "object/type/equal.h"
#include "sdk/election/lease_lock.h"

namespace cox::sdk {

// The last observed Lease, and the time of its last change by the local clock. Times in the Lease
// come from another clock and are not used.
//
// Threads: like a plain struct.
class ObservedLease {
 public:
  // `fallback`: the lease duration if the Lease does not contain one.
  explicit ObservedLease(Clock::Duration fallback) : fallback_(fallback) {}

  void Observe(Lease lease, Clock::SteadyTime now) {
    if (!lease_ || !DeepEqual(lease_->spec, lease.spec)) since_ = now;
    lease_ = std::move(lease);
  }

  bool has_value() const { return lease_.has_value(); }
  // REQUIRES: has_value()
  const Lease& lease() const { return *lease_; }
  std::string holder() const { return lease_ ? HolderOf(lease_->spec) : ""; }

  // When the Lease expires. REQUIRES: has_value()
  Clock::SteadyTime Until() const {
    const int32_t seconds = lease_->spec.leaseDurationSeconds.value_or(0);
    return since_ + (seconds > 0 ? Clock::Duration(std::chrono::seconds(seconds)) : fallback_);
  }
  bool HeldByOther(std::string_view identity, Clock::SteadyTime now) const {
    const std::string holder = this->holder();
    return !holder.empty() && holder != identity && now < Until();
  }

 private:
  const Clock::Duration fallback_;
  std::optional<Lease> lease_;
  Clock::SteadyTime since_{};
};

}  // namespace cox::sdk
