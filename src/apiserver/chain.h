// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/authn/authenticator.h"
#include "apiserver/authn/impersonation.h"
#include "apiserver/authz/authorizer.h"
#include "apiserver/fairness/gate.h"
#include "apiserver/handlers/call.h"
#include "apiserver/metrics/request_metrics.h"

namespace cox::apiserver {

// What a stage made of a call: goes on to the next, or it has been answered (or somebody else
// will).
enum class Next : uint8_t { kGoOn, kDone };

// A named step on the way of every request. One that fails ends it, with that answer.
struct Stage {
  std::string_view name;
  std::function<Result<Next>(const std::shared_ptr<Call>&)> run;
};

// What the chain is made of.
struct ChainParts {
  RequestMetrics& metrics;
  const Authenticator& authenticator;
  const Impersonation& impersonation;
  RequestGate& gate;
  const Authorizer& authorizer;
  // Moves the call from its loop to a worker: what follows may block.
  std::function<void(std::shared_ptr<Call>, std::function<void(std::shared_ptr<Call>)>)> offload;
  // Answers by path.
  std::function<void(const std::shared_ptr<Call>&)> dispatch;
  // The limit of requests that are not to last.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
};

// The way of a request, top to bottom. Stages up to "offload" run on the connection's loop and do
// not block; the rest on a worker.
std::vector<Stage> BuildChain(const ChainParts& parts);

// Runs `call` through the stages from number `from` on.
void RunChain(const std::vector<Stage>& stages, const std::shared_ptr<Call>& call, size_t from = 0);

// The stage behind the one that is called so: where a call goes on that waited there.
size_t StageAfter(const std::vector<Stage>& stages, std::string_view name);

}  // namespace cox::apiserver
