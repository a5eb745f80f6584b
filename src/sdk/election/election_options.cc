// SPDX-License-Identifier: Apache-2.0
#include "sdk/election/election_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/host_name.h"

namespace cox::sdk {
namespace {

// client-go's jitter factor for the retry period.
constexpr double kJitterFactor = 1.2;
constexpr size_t kMaxIdentity = 512;

}  // namespace

Status CheckOptions(const LeaderElectionOptions& o, std::string_view identity) {
  if (o.lease.ns.empty() || o.lease.name.empty()) {
    return Status::BadRequest("the Lease of an election needs a namespace and a name");
  }
  if (o.retry_period <= std::chrono::milliseconds(0)) {
    return Status::BadRequest("retry_period must be greater than zero");
  }
  if (o.lease_duration <= o.renew_deadline) {
    return Status::BadRequest("lease_duration must be greater than renew_deadline");
  }
  if (static_cast<double>(o.renew_deadline.count()) <=
      kJitterFactor * static_cast<double>(o.retry_period.count())) {
    return Status::BadRequest("renew_deadline must be greater than retry_period * 1.2");
  }
  // The identity is part of a header.
  const bool visible =
      std::all_of(identity.begin(), identity.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!visible || identity.size() > kMaxIdentity) {
    return Status::BadRequest("an identity has at most 512 characters, all visible ASCII");
  }
  return {};
}

std::string NewIdentity() {
  std::random_device random;
  const uint64_t number = (uint64_t{random()} << 32) | random();
  std::array<char, 16> hex{};
  char* end = std::to_chars(hex.data(), hex.data() + hex.size(), number, 16).ptr;
  const std::string host = HostName();
  return (host.empty() ? "unknown" : host) + "_" + std::string(hex.data(), end);
}

}  // namespace cox::sdk
