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

// The API server of this cluster, as its command is when it runs alone.
Result<Flags> ApiServerFlagsFor(const UpOptions& options);

// Who a component is for the API server.
struct Identity {
  std::string user;
  std::vector<std::string> groups;
};

// What works through the API inside this process: each component has a Manager, a client with an
// identity of its own, and a logger. Requests are calls of the server's handler, without a socket,
// and are authenticated, authorized and admitted as all others.
//
// Threads: Add and Stop by one at a time; the rest concurrently.
// Lifetime: the API server and `logging` outlive it. Stop, then destroy.
class Components {
 public:
  // `failed` is called, once, when one of them ends that was not asked to.
  using OnFailure = std::function<void(std::string_view name, const Status& why)>;
  Components(const Context& ctx, Logging& logging, apiserver::ApiServer& server, OnFailure failed);
  ~Components();

  // A client of that identity.
  std::shared_ptr<Client> ClientFor(const std::string& name, const Identity& identity);

  struct Component {
    std::string name;  // "kube-scheduler"
    Identity identity;
    ManagerOptions manager;
    // HTTPS on the loopback: probes for all, metrics for who may. 0: none.
    uint16_t secure_port = 0;
    std::string kubeconfig;  // by which the API server is asked who may
    std::function<Status(Manager& manager)> setup;
  };
  // Starts it. Not OK, with nothing started, if it cannot be made.
  Status Add(Component component);
  // Asks all to end, and waits for them.
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

// Controllers and scheduler.
Status AddControlPlane(Components& components, const UpOptions& options);

}  // namespace cox::cmd
