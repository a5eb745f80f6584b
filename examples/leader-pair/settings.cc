// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

namespace {

using std::chrono::milliseconds;

constexpr cox::FlagInfo kFlags[] = {
    {"Cluster", "kubeconfig", "file", "", "which kubeconfig to use"},
    {"Leader election", "identity", "name", "", "by which name this process leads"},
    {"Leader election", "lease-duration-ms", "int", "15000", "how long others wait for it"},
    {"Leader election", "renew-deadline-ms", "int", "10000", "how long it tries to renew"},
    {"Leader election", "retry-period-ms", "int", "2000", "between attempts"},
    {"Work", "write-period-ms", "int", "1000", "between writes of the leader"},
    {"Work", "fence", "who", "both", "who refuses late writes: both, server, none"},
};

cox::Result<FenceMode> ParseFence(std::string_view text) {
  if (text == "both") return FenceMode::kBoth;
  if (text == "server") return FenceMode::kServer;
  if (text == "none") return FenceMode::kNone;
  return cox::Status::BadRequest("--fence=" + std::string(text) + ": want both, server or none");
}

cox::Result<milliseconds> Milliseconds(const cox::Flags& flags, std::string_view name) {
  COX_ASSIGN_OR_RETURN(const int64_t count, flags.GetInt(name, 1, 3'600'000));
  return milliseconds(count);
}

}  // namespace

cox::Result<Settings> ReadSettings(int argc, char** argv) {
  const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
  COX_ASSIGN_OR_RETURN(const cox::Flags flags, cox::Flags::Parse(kFlags, arguments.subspan(1)));
  if (flags.help()) {
    std::fputs(cox::FlagsHelp("leader-pair: of several, one counts.\n", kFlags).c_str(), stdout);
    std::exit(0);
  }
  Settings settings;
  settings.kubeconfig = flags.Get("kubeconfig");
  settings.election.identity = flags.Get("identity");
  COX_ASSIGN_OR_RETURN(settings.election.lease_duration, Milliseconds(flags, "lease-duration-ms"));
  COX_ASSIGN_OR_RETURN(settings.election.renew_deadline, Milliseconds(flags, "renew-deadline-ms"));
  COX_ASSIGN_OR_RETURN(settings.election.retry_period, Milliseconds(flags, "retry-period-ms"));
  COX_ASSIGN_OR_RETURN(settings.write_period, Milliseconds(flags, "write-period-ms"));
  COX_ASSIGN_OR_RETURN(settings.fence, ParseFence(flags.Get("fence")));
  return settings;
}
