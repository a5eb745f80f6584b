// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/request/call.h"
#include "base/context.h"

namespace cox::apiserver {

// The HTTPS ports of components on this machine.
struct ComponentPorts {
  uint16_t controller_manager = 10257;
  uint16_t scheduler = 10259;
};

// A component whose health is reported as a ComponentStatus.
struct ComponentCheck {
  std::string name;
  // Returns the text of the healthy component, for example "ok". May block.
  std::function<Result<std::string>(Context& ctx)> check;
};

// Requests https://127.0.0.1:`port`/healthz. Like upstream's, it does not verify the certificate,
// because components create their own; the request has no credentials.
ComponentCheck LocalComponent(std::string name, uint16_t port);

// Serves componentstatuses, a deprecated resource that is not stored: each request checks the
// components on this machine.
//
// Threads: constant after construction; Handle may be called concurrently and may block.
class ComponentStatuses {
 public:
  explicit ComponentStatuses(std::vector<ComponentCheck> checks) : checks_(std::move(checks)) {}

  // Returns false if the request is not get or list of componentstatuses.
  bool Handle(Call& call) const;

 private:
  Status Get(Call& call) const;
  Status List(Call& call) const;

  const std::vector<ComponentCheck> checks_;
};

}  // namespace cox::apiserver
