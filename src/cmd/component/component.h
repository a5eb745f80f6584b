// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/flags.h"
#include "coxswain/client.h"
#include "coxswain/config.h"
#include "coxswain/manager.h"

// Shared by components that run as separate programs and use the API: flags (--kubeconfig,
// --leader-elect and related flags, --bind-address, --secure-port, --v ...), /healthz, /livez,
// /readyz and /metrics over TLS, a Manager, and shutdown by signals.
namespace cox::cmd {

struct ComponentOptions {
  // "kube-scheduler": the name of the Lease in kube-system, event source, field manager and user
  // agent.
  std::string name;
  std::string intro;  // for --help, with usage and examples
  // The component's flags; they are listed first in --help and override common flags with the same
  // name.
  std::span<const FlagInfo> flags;
  uint16_t secure_port = 0;   // default of --secure-port; 0: no server
  bool leader_elect = false;  // default of --leader-elect
  CacheOptions cache;
  // Validates the component's flags before anything else; an error is a usage error.
  std::function<Status(const Flags& flags)> check;
};

// The parts of a component, built from the flags.
struct Component {
  Manager& manager;
  const Flags& flags;
  const Config& config;  // configuration of the manager's cluster
  // Sends TokenReviews and SubjectAccessReviews; null: a client with `config`.
  std::shared_ptr<Client> reviewer = nullptr;
};
// Registers the component's runnables. An error ends the program.
using ComponentSetup = std::function<Status(const Component& component)>;

// Runs until SIGTERM or SIGINT. `arguments` are those after the command's name. Returns the exit
// code like RunOperator, and like it exits the process if the manager has failed.
int RunComponent(std::span<char* const> arguments, const ComponentOptions& options,
                 const ComponentSetup& setup);

// Sets the OOM score of this process to --oom-score-adj, if it may do so. BadRequest for an invalid
// value.
Status ApplyOomScoreFlag(const Component& component);

// The flags of all components, for tests and for other help texts.
std::span<const FlagInfo> ComponentFlags();

}  // namespace cox::cmd
