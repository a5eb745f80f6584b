// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/scope.h"
#include "cmd/apiserver/composed.h"
#include "cmd/up/options.h"
#include "coxswain/client.h"
#include "coxswain/manager.h"

namespace cox::cmd {

// Returns the flags of this cluster's API server.
Result<Flags> ApiServerFlagsFor(const UpOptions& options);

// The user and groups of a component.
struct Identity {
  std::string user;
  std::vector<std::string> groups;
};

// The components that run inside this process. Each has a Manager, a client with its own identity,
// and a logger. Requests call the server's handler without a socket; they are authenticated,
// authorized and admitted like all others.
//
// Threads: Add and Stop by one thread at a time; other methods concurrently.
// Lifetime: the API server and `logging` outlive it. Call Stop before destruction.
class Components {
 public:
  // `failed` is called when a component ends without a call of Stop.
  using OnFailure = std::function<void(std::string_view name, const Status& why)>;
  Components(const Context& ctx, Logging& logging, apiserver::ApiServer& server, OnFailure failed);
  ~Components();

  // Returns a client with that identity.
  std::shared_ptr<Client> ClientFor(const std::string& name, const Identity& identity);

  struct Component {
    std::string name;  // "kube-scheduler"
    Identity identity;
    ManagerOptions manager;
    // HTTPS on the loopback interface: probes without authorization, metrics with authorization. 0:
    // none.
    uint16_t secure_port = 0;
    std::function<Status(Manager& manager)> setup;
  };
  // Starts the component. Returns an error and starts nothing if it cannot be created.
  Status Add(Component component);
  // Stops all components and waits for them.
  void Stop();

 private:
  struct Running;

  const Context ctx_;
  Logging& logging_;
  apiserver::ApiServer& server_;
  const OnFailure failed_;
  std::vector<std::unique_ptr<Running>> running_;
  Scope scope_;
};

// Adds controllers and scheduler.
Status AddControlPlane(Components& components, const UpOptions& options);

}  // namespace cox::cmd
