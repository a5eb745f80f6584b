// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "coxswain/manager.h"

// Which components reject writes of a leader whose term has ended.
enum class FenceMode { kBoth, kServer, kNone };

struct Settings {
  std::string kubeconfig;
  cox::LeaderElectionOptions election{.lease = {"default", "leader-pair"}};
  std::chrono::milliseconds write_period{};
  FenceMode fence = FenceMode::kBoth;
};

// BadRequest with the invalid flag. Exits after --help.
cox::Result<Settings> ReadSettings(int argc, char** argv);
