// SPDX-License-Identifier: Apache-2.0
#include "apiserver/chain.h"

#include <chrono>

#include "apiserver/handlers/negotiation.h"
#include "apiserver/registry/errors.h"
#include "base/strings.h"
#include "object/selector/fields.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

// A request that takes longer than this is given up; watches and streams are exempt.

Result<Next> ReadRequestInfo(const std::shared_ptr<Call>& call) {
  call->query = Query::Parse(call->request().query());
  COX_ASSIGN_OR_RETURN(
      call->info, ParseRequestInfo(call->request().method, call->request().target, call->query));
  return Next::kGoOn;
}

Stage SetTimeout(std::chrono::nanoseconds timeout) {
  return {"timeout", [timeout](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (!call->info.long_running) call->set_ctx(call->ctx().WithTimeout(timeout));
            return Next::kGoOn;
          }};
}

// What is to be allowed: the request, and where a list names one object by its selector, that name.
// `named` holds it if it differs from call.info.
const RequestInfo& AuthorizedInfo(const Call& call, std::optional<RequestInfo>& named) {
  const RequestInfo& info = call.info;
  if (!info.is_resource || !info.name.empty() || (info.verb != "list" && info.verb != "watch")) {
    return info;
  }
  const std::string* text = call.query.Find("fieldSelector");
  if (text == nullptr) return info;
  Result<fields::Selector> selector = fields::Selector::Parse(*text);
  if (!selector.ok()) return info;
  const std::optional<std::string_view> name = selector->RequiresExactMatch("metadata.name");
  if (!name || !validation::IsValidPathSegmentName(*name).empty()) return info;
  named = info;
  named->name = *name;
  return *named;
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
            std::optional<RequestInfo> named;
            COX_ASSIGN_OR_RETURN(
                call->user,
                impersonation.Apply(call->request(), AuthorizedInfo(*call, named), call->user));
            RemoveImpersonationHeaders(call->request().headers);
            return Next::kGoOn;
          }};
}

Stage Authorize(const Authorizer& authorizer) {
  return {"authz", [&authorizer](const std::shared_ptr<Call>& call) -> Result<Next> {
            std::optional<RequestInfo> named;
            const RequestInfo& info = AuthorizedInfo(*call, named);
            const Decision decision = authorizer.Authorize(call->user, info);
            if (decision.allowed) return Next::kGoOn;
            return ForbiddenStatus(call->user, info, decision.reason);
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
      // fairness: by the user that was impersonated: not built yet
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

}  // namespace cox::apiserver
