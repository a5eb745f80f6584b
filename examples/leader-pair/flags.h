// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "coxswain/leader_election.h"

// Who refuses writes of a leader whose term is over.
enum class FenceMode { kBoth, kServer, kNone };

struct Flags {
  std::string kubeconfig;
  cox::LeaderElectionOptions election{.lease = {"default", "leader-pair"}};
  std::chrono::milliseconds write_period{1000};
  FenceMode fence = FenceMode::kBoth;
};

// BadRequest naming the argument that is wrong.
cox::Result<Flags> ParseFlags(int argc, char** argv);
