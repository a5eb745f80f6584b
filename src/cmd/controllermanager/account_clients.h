// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coxswain/client.h"
#include "coxswain/manager.h"
#include "coxswain/transport.h"

namespace cox::cmd {

// Clients that are service accounts of kube-system, one for each controller: what goes wrong in one
// of them can do no more than its role allows, and the audit log says which it was.
//
// A token is asked for (TokenRequest) when it is first needed, again when four fifths of its life
// are over or the server refuses it; the account is made if it is not there. All share one
// connection.
// Threads: all methods may be called concurrently.
// Ownership: the manager outlives the clients.
class AccountClients {
 public:
  // `config` says where the server is; who we are there is left out of it.
  static Result<std::unique_ptr<AccountClients>> Create(Manager& manager, Config config);
  // Use Create. `anonymous`: sends what it is given, with the authorization it has.
  AccountClients(Manager& manager, std::shared_ptr<Transport> anonymous, Config config);

  // Its writes are in the manager's cache, and fenced by its leadership.
  std::shared_ptr<Client> For(std::string_view account);

 private:
  Manager& manager_;
  const std::shared_ptr<Transport> anonymous_;
  const Config config_;
};

}  // namespace cox::cmd
