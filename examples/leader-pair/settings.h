// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "coxswain/manager.h"

// Who refuses writes of a leader whose term is over.
enum class FenceMode { kBoth, kServer, kNone };

struct Settings {
  std::string kubeconfig;
  cox::LeaderElectionOptions election{.lease = {"default", "leader-pair"}};
  std::chrono::milliseconds write_period{};
  FenceMode fence = FenceMode::kBoth;
};

// BadRequest naming the flag that is wrong. Ends the program after --help.
cox::Result<Settings> ReadSettings(int argc, char** argv);
