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

// What kube-controller-manager runs. A controller is a folder: its decision as pure functions of
// objects (decide.h, or the noun it decides about), and a thin reconciler that reads the cache,
// asks them, and writes. To add one: the folder, and its line in registry.cc.
namespace cox::controllers {

struct ControllerInfo {
  std::string_view name;      // as --controllers knows it: "replicaset-controller"
  std::string_view account;   // its service account in kube-system
  std::string_view reporter;  // who its events are from; empty: the name
  Status (*add)(Manager& manager, const Options& options);
  bool on_by_default = true;
};

// In the order in which they are started.
std::span<const ControllerInfo> AllControllers();
// What the words of --controllers say of it.
bool IsEnabled(const ControllerInfo& controller, const std::vector<std::string>& words);

// A client that writes as the service account. Where there is no such function, all controllers
// write by the manager's client.
using ClientFor = std::function<Result<std::shared_ptr<Client>>(std::string_view account)>;

// Registers those that options.controllers names, by their names or those of before 1.28.
// BadRequest for a name that is none; those of upstream that are not here yet are only told of.
Status AddControllers(Manager& manager, const Options& options, const ClientFor& client_for = {});

}  // namespace cox::controllers
