// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/flags.h"
#include "coxswain/config.h"
#include "coxswain/manager.h"

// What components that work through the API have in common when they run as programs of their own:
// flags (--kubeconfig, --leader-elect and its family, --bind-address, --secure-port, --v ...),
// serving of /healthz, /livez, /readyz and /metrics over TLS, a Manager, and the end by signals.
namespace cox::cmd {

struct ComponentOptions {
  // "kube-scheduler": of the Lease in kube-system, in events, as field manager and user agent.
  std::string name;
  std::string intro;  // of --help, with usage and examples
  // Of its own; they come first in --help, and before a common one of the same name.
  std::span<const FlagInfo> flags;
  uint16_t secure_port = 0;   // what --secure-port is unless told; 0: nothing is served
  bool leader_elect = false;  // what --leader-elect is unless told
  CacheOptions cache;
  // Whether its own flags make sense, asked before anything else: what it says is a usage error.
  std::function<Status(const Flags& flags)> check;
};

// What a component is made of, as the flags say.
struct Component {
  Manager& manager;
  const Flags& flags;
  const Config& config;  // of the cluster that the manager talks to
};
// Registers what is to run. Not OK: the program ends with that.
using ComponentSetup = std::function<Status(const Component& component)>;

// Runs until SIGTERM or SIGINT. `arguments` are those behind the command's name. Returns the exit
// code as RunOperator does, and like it ends the program where the manager has failed.
int RunComponent(std::span<char* const> arguments, const ComponentOptions& options,
                 const ComponentSetup& setup);

// The flags of all components, for tests and for those who show them elsewhere.
std::span<const FlagInfo> ComponentFlags();

}  // namespace cox::cmd
