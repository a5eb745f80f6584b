// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace {

using std::chrono::milliseconds;

cox::Result<milliseconds> ParseMilliseconds(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count <= 0) {
    return cox::Status::BadRequest("not a number of milliseconds");
  }
  return milliseconds(count);
}

cox::Result<FenceMode> ParseFence(std::string_view text) {
  if (text == "both") return FenceMode::kBoth;
  if (text == "server") return FenceMode::kServer;
  if (text == "none") return FenceMode::kNone;
  return cox::Status::BadRequest("must be both, server or none");
}

cox::Status Set(Flags& flags, std::string_view name, std::string_view value) {
  cox::LeaderElectionOptions& election = flags.election;
  if (name == "--kubeconfig") {
    flags.kubeconfig = value;
  } else if (name == "--identity") {
    election.identity = value;
  } else if (name == "--lease-duration-ms") {
    COX_ASSIGN_OR_RETURN(election.lease_duration, ParseMilliseconds(value));
  } else if (name == "--renew-deadline-ms") {
    COX_ASSIGN_OR_RETURN(election.renew_deadline, ParseMilliseconds(value));
  } else if (name == "--retry-period-ms") {
    COX_ASSIGN_OR_RETURN(election.retry_period, ParseMilliseconds(value));
  } else if (name == "--write-period-ms") {
    COX_ASSIGN_OR_RETURN(flags.write_period, ParseMilliseconds(value));
  } else if (name == "--fence") {
    COX_ASSIGN_OR_RETURN(flags.fence, ParseFence(value));
  } else {
    return cox::Status::BadRequest("unknown flag");
  }
  return {};
}

}  // namespace

cox::Result<Flags> ParseFlags(int argc, char** argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const size_t equals = std::min(flag.find('='), flag.size());
    const std::string_view value = flag.substr(std::min(equals + 1, flag.size()));
    const cox::Status set = Set(flags, flag.substr(0, equals), value);
    if (!set.ok()) return set.WithContext(flag);
  }
  return flags;
}
