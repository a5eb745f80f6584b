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

// The result of a stage.
enum class Next : uint8_t {
  kGoOn,  // to the next stage
  kDone,  // a response has been or will be sent
  kWait,  // this stage must wait and cannot do so here: it runs again in a fiber or on a worker,
          // with the rest of the chain. Only for calls that may not wait yet (Call::may_wait).
};

// A named stage of the filter chain. If it returns an error, the chain ends and the error is the
// response.
struct Stage {
  std::string_view name;
  std::function<Result<Next>(const std::shared_ptr<Call>&)> run;
};

// Moves a call from its event loop to a fiber or a worker.
using Offload =
    std::function<void(std::shared_ptr<Call>, std::function<void(std::shared_ptr<Call>)>)>;

// The components of the chain.
struct ChainParts {
  RequestMetrics& metrics;
  const Authenticator& authenticator;
  Auditor* auditor = nullptr;  // null: no auditing
  const Impersonation& impersonation;
  RequestGate& gate;
  const Authorizer& authorizer;
  const Fencing* fencing = nullptr;  // null: no fencing
  Offload offload;
  // Executes the request at the endpoint of its path.
  std::function<void(const std::shared_ptr<Call>&)> dispatch;
  // The timeout of requests that are not long-running.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(60);
};

// The filter chain, in order. Stages run on the connection's event loop until one must wait; the
// last stage always does.
struct Chain {
  std::vector<Stage> stages;
  Offload offload;
  // The index of the stage after fairness, where queued calls continue.
  size_t after_fairness = 0;
};
Chain BuildChain(const ChainParts& parts);

// Reports whether the server should receive the body of `request`: false if authentication fails,
// or if the request is anonymous and not authorized. Does not block; true if that would be
// necessary.
bool AcceptsBody(const net::Request& request, const Authenticator& authenticator,
                 const Authorizer& authorizer);

// Runs `call` through the stages from index `from` on. The chain must outlive the call.
void RunChain(const Chain& chain, const std::shared_ptr<Call>& call, size_t from = 0);

}  // namespace cox::apiserver
