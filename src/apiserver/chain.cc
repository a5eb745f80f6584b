// SPDX-License-Identifier: Apache-2.0
#include "apiserver/chain.h"

#include <chrono>

namespace cox::apiserver {
namespace {

Result<Next> ReadRequestInfo(const std::shared_ptr<Call>& call) {
  call->query = Query::Parse(call->request().query());
  COX_ASSIGN_OR_RETURN(
      call->info, ParseRequestInfo(call->request().method, call->request().target, call->query));
  return Next::kGoOn;
}

// A request that takes longer is given up; watches and streams are exempt.
Stage SetTimeout(std::chrono::nanoseconds timeout) {
  return {"timeout", [timeout](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (!call->info.long_running) call->set_ctx(call->ctx().WithTimeout(timeout));
            return Next::kGoOn;
          }};
}

Stage Authenticate(const Authenticator& authenticator) {
  return {"authn", [&authenticator](const std::shared_ptr<Call>& call) -> Result<Next> {
            const std::string_view warning = BearerTokenWarning(call->request());
            if (!warning.empty()) call->Warn(std::string(warning));
            COX_ASSIGN_OR_RETURN(call->user, authenticator.Authenticate(call->request()));
            // Nobody behind the chain shall see, log or forward it.
            call->request().headers.Remove("authorization");
            return Next::kGoOn;
          }};
}

Stage Impersonate(const Impersonation& impersonation) {
  return {"impersonation", [&impersonation](const std::shared_ptr<Call>& call) -> Result<Next> {
            COX_ASSIGN_OR_RETURN(call->user,
                                 impersonation.Apply(call->request(), call->info, call->user));
            RemoveImpersonationHeaders(call->request().headers);
            return Next::kGoOn;
          }};
}

Stage Authorize(const Authorizer& authorizer) {
  return {"authz", [&authorizer](const std::shared_ptr<Call>& call) -> Result<Next> {
            const Decision decision = authorizer.Authorize(call->user, call->info);
            if (decision.allowed) return Next::kGoOn;
            return ForbiddenStatus(call->user, call->info, decision.reason);
          }};
}

}  // namespace

// Read top to bottom: this is the order a request meets them.
std::vector<Stage> BuildChain(const ChainParts& p) {
  return {
      {"requestinfo", ReadRequestInfo},
      {"metrics",
       [&metrics = p.metrics](const std::shared_ptr<Call>& call) -> Result<Next> {
         // Before authentication: those who may not are counted too.
         metrics.Follow(*call);
         return Next::kGoOn;
       }},
      SetTimeout(p.request_timeout),
      Authenticate(p.authenticator),
      // audit: after authn, since records need the user: not built yet
      Impersonate(p.impersonation),
      // By the user that was impersonated, and before authorization, which takes its time too.
      {"fairness",
       [&gate = p.gate](const std::shared_ptr<Call>& call) -> Result<Next> {
         return gate.Enter(call) ? Next::kGoOn : Next::kDone;
       }},
      Authorize(p.authorizer),
      {"offload",
       [offload = p.offload, dispatch = p.dispatch](const std::shared_ptr<Call>& call) {
         // Decoding, admission, registry and storage take time and may block.
         offload(call, [dispatch](std::shared_ptr<Call> c) { dispatch(c); });
         return Next::kDone;
       }},
  };
}

void RunChain(const std::vector<Stage>& stages, const std::shared_ptr<Call>& call, size_t from) {
  for (size_t i = from; i < stages.size(); ++i) {
    const Result<Next> next = stages[i].run(call);
    if (!next.ok()) return call->RespondStatus(next.status());
    if (*next == Next::kDone) return;
  }
}

size_t StageAfter(const std::vector<Stage>& stages, std::string_view name) {
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].name == name) return i + 1;
  }
  return stages.size();
}

}  // namespace cox::apiserver
