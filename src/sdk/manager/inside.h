// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/context.h"
#include "coxswain/manager.h"
#include "net/http.h"

// What the programs of this tree need of a manager besides its contract.
// REQUIRES: the manager is one that Manager::Create made.
namespace cox::sdk {

// What its servers of probes and metrics would answer, for those who serve it in another way
// (with TLS, to those who may see it). /livez is /healthz. None: it is none of those paths.
std::optional<net::Response> AnswerInspection(Manager& manager, Context& ctx,
                                              const net::Request& request);

// As Manager::client, but what it sends goes by `client`: its writes are fenced by the manager's
// leadership and in the manager's cache when they return. The manager outlives it.
std::unique_ptr<Client> WritingBy(Manager& manager, std::shared_ptr<Client> client);

}  // namespace cox::sdk
