// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controllers/options.h"
#include "coxswain/manager.h"

// The controllers that kube-controller-manager runs. Each controller has a folder: its decisions
// are pure functions of objects (decide.h, or a header named after its subject), and a thin
// reconciler reads the cache, calls them and writes the result. To add a controller, add its folder
// and an entry in registry.cc.
namespace cox::controllers {

struct ControllerInfo {
  std::string_view name;      // the name in --controllers: "replicaset-controller"
  std::string_view account;   // its service account in kube-system
  std::string_view reporter;  // event source; empty: the name
  Status (*add)(Manager& manager, const Options& options);
  bool on_by_default = true;
};

// In the order in which they are started.
std::span<const ControllerInfo> AllControllers();
// Evaluates the --controllers list for one controller.
bool IsEnabled(const ControllerInfo& controller, const std::vector<std::string>& words);

// Returns a client that authenticates as the service account. If the function is empty, all
// controllers use the manager's client.
using ClientFor = std::function<Result<std::shared_ptr<Client>>(std::string_view account)>;

// Registers the controllers that options.controllers enables; names from before 1.28 are accepted.
// Returns BadRequest for an unknown name. For upstream controllers that are not implemented it only
// logs a warning.
Status AddControllers(Manager& manager, const Options& options, const ClientFor& client_for = {});

}  // namespace cox::controllers
