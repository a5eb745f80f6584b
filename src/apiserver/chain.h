// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/authn/authenticator.h"
#include "apiserver/authn/impersonation.h"
#include "apiserver/authz/authorizer.h"
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
  // Whether it may wait for something, right now: then it runs on a worker, and all that follows
  // too. Null: never.
  std::function<bool()> may_block = {};
};

// Moves the call from its loop to a worker and goes on there.
using Offload =
    std::function<void(std::shared_ptr<Call>, std::function<void(std::shared_ptr<Call>)>)>;

struct Chain {
  std::vector<Stage> stages;
  Offload offload;
};

// What the chain is made of.
struct ChainParts {
  RequestMetrics& metrics;
  const Authenticator& authenticator;
  const Impersonation& impersonation;
  const Authorizer& authorizer;
  Offload offload;
  // Answers by path.
  std::function<void(const std::shared_ptr<Call>&)> dispatch;
  // The limit of requests that are not to last.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
};

// The way of a request, top to bottom. Stages run on the connection's loop until the first that may
// block; from there on a worker.
Chain BuildChain(const ChainParts& parts);

// Runs `call` through the stages from number `from` on. `chain` outlives what is offloaded.
void RunChain(const Chain& chain, const std::shared_ptr<Call>& call, size_t from = 0);

}  // namespace cox::apiserver
