// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/filters/audit/auditor.h"
#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/filters/authz/authorizer/authorizer.h"
#include "apiserver/filters/fairness/gate.h"
#include "apiserver/filters/impersonation/impersonation.h"
#include "apiserver/filters/metrics/request_metrics.h"
#include "apiserver/request/call.h"

namespace cox::apiserver {

class Fencing;

// What a stage made of a call.
enum class Next : uint8_t {
  kGoOn,      // to the next stage
  kDone,      // it has been answered, or somebody else will
  kOnWorker,  // this stage must block, and may not here: it is run again on a worker, and the rest
              // of the chain with it. For calls that are not on one (Call::on_worker).
};

// A named step on the way of every request. One that fails ends it, with that answer.
struct Stage {
  std::string_view name;
  std::function<Result<Next>(const std::shared_ptr<Call>&)> run;
};

// Moves a call from its loop to a worker.
using Offload =
    std::function<void(std::shared_ptr<Call>, std::function<void(std::shared_ptr<Call>)>)>;

// What the chain is made of.
struct ChainParts {
  RequestMetrics& metrics;
  const Authenticator& authenticator;
  Auditor* auditor = nullptr;  // null: nothing is audited
  const Impersonation& impersonation;
  RequestGate& gate;
  const Authorizer& authorizer;
  const Fencing* fencing = nullptr;  // null: nobody's leading is asked for
  Offload offload;
  // Answers by path.
  std::function<void(const std::shared_ptr<Call>&)> dispatch;
  // The limit of requests that are not to last.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
};

// The way of a request, top to bottom. Stages run on the connection's loop and do not block, until
// one asks for a worker; the last one always does.
struct Chain {
  std::vector<Stage> stages;
  Offload offload;
  // The position of the stage after fairness, where calls continue that waited in a queue.
  size_t after_fairness = 0;
};
Chain BuildChain(const ChainParts& parts);

// Runs `call` through the stages from number `from` on. The chain outlives the call.
void RunChain(const Chain& chain, const std::shared_ptr<Call>& call, size_t from = 0);

}  // namespace cox::apiserver
