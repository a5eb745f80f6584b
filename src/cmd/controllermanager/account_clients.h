// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coxswain/client.h"
#include "coxswain/manager.h"
#include "coxswain/transport.h"

namespace cox::cmd {

// Clients that use service accounts of kube-system, one per controller: each controller is limited
// to its role and identifiable in the audit log.
//
// A token is requested (TokenRequest) on first use, after four fifths of its lifetime, and when the
// API server rejects it; a missing service account is created. All clients share one connection.
//
// Threads: all methods may be called concurrently.
// Ownership: the manager outlives the clients.
class AccountClients {
 public:
  // `config` provides the address of the API server; its credentials are ignored.
  static Result<std::unique_ptr<AccountClients>> Create(Manager& manager, Config config);
  // Use Create. `anonymous` sends requests without adding credentials.
  AccountClients(Manager& manager, std::shared_ptr<Transport> anonymous, Config config);

  // The client's writes update the manager's cache and are fenced by its leader election.
  std::shared_ptr<Client> For(std::string_view account);

 private:
  Manager& manager_;
  const std::shared_ptr<Transport> anonymous_;
  const Config config_;
};

}  // namespace cox::cmd
