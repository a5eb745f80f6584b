// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/chain.h"

#include <chrono>

#include "apiserver/filters/fencing/fencing.h"

namespace cox::apiserver {
namespace {

Result<Next> ReadRequestInfo(const std::shared_ptr<Call>& call) {
  call->query = Query::Parse(call->request().query());
  COX_ASSIGN_OR_RETURN(
      call->info, ParseRequestInfo(call->request().method, call->request().target, call->query));
  return Next::kGoOn;
}

// Requests that exceed the timeout are cancelled; watches and streams are exempt.
Stage SetTimeout(std::chrono::nanoseconds timeout) {
  return {"timeout", [timeout](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (!call->info.long_running) call->set_ctx(call->ctx().WithTimeout(timeout));
            return Next::kGoOn;
          }};
}

// Requests that fail authentication are audited too, with a null `user`.
std::unique_ptr<AuditRecord> Begin(Auditor& auditor, const Call& call, const UserInfo* user) {
  return auditor.Begin({call.request(), call.info, user, call.audit_id()});
}

Stage Authenticate(const Authenticator& authenticator, Auditor* auditor) {
  return {"authn", [&authenticator, auditor](const std::shared_ptr<Call>& call) -> Result<Next> {
            const std::string_view warning = BearerTokenWarning(call->request());
            if (!warning.empty()) call->Warn(std::string(warning));
            Result<UserInfo> user = call->may_wait
                                        ? authenticator.Await(call->ctx(), call->request())
                                        : authenticator.Authenticate(call->request());
            if (!user.ok()) {
              if (!call->may_wait && AuthMethod::IsWouldWait(user.status())) {
                return Next::kWait;
              }
              if (auditor == nullptr) return user.status();
              if (call->audit() == nullptr) call->set_audit(Begin(*auditor, *call, nullptr));
              const bool waits = call->audit() != nullptr && auditor->blocks();
              if (waits && !call->may_wait) return Next::kWait;
              return user.status();
            }
            call->set_audit(nullptr);  // of a failed attempt on the event loop, if any
            call->user = std::move(*user);
            // Credentials must not reach endpoints, logs or forwarded requests.
            authenticator.RemoveCredentials(call->request().headers);
            return Next::kGoOn;
          }};
}

Stage Audit(Auditor* auditor) {
  return {"audit", [auditor](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (auditor == nullptr) return Next::kGoOn;
            if (call->audit() == nullptr) {
              call->set_audit(Begin(*auditor, *call, &call->user));
              if (call->audit() == nullptr) return Next::kGoOn;
            }
            // Sending the events may wait for a webhook, or for another thread that writes the log.
            if (auditor->blocks() && !call->may_wait) return Next::kWait;
            const Status received = call->audit()->Received();
            if (received.ok()) return Next::kGoOn;
            auditor->CountRejected();
            call->set_audit(nullptr);
            return received;
          }};
}

// Whether the authorizer may be called on the call's current thread.
bool MayRequest(const Authorizer& authorizer, const Call& call) {
  return call.may_wait || !authorizer.MayBlock();
}

Stage Impersonate(const Impersonation& impersonation, const Authorizer& authorizer) {
  return {"impersonation",
          [&impersonation, &authorizer](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (!MayRequest(authorizer, *call)) return Next::kWait;
            COX_ASSIGN_OR_RETURN(call->user,
                                 impersonation.Apply(call->request(), call->info, call->user));
            if (call->audit() != nullptr && call->Header("impersonate-user")) {
              call->audit()->SetImpersonated(call->user);
            }
            RemoveImpersonationHeaders(call->request().headers);
            return Next::kGoOn;
          }};
}

// Selectors apply to list, watch and deletecollection only.
Selectors SelectorsOf(const Call& call) {
  const std::string_view verb = call.info.verb;
  if (verb != "list" && verb != "watch" && verb != "deletecollection") return {};
  const std::string* fields = call.query.Find("fieldSelector");
  const std::string* labels = call.query.Find("labelSelector");
  return {fields == nullptr ? std::string_view() : *fields,
          labels == nullptr ? std::string_view() : *labels};
}

Stage Authorize(const Authorizer& authorizer) {
  return {"authz", [&authorizer](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (!MayRequest(authorizer, *call)) return Next::kWait;
            const Decision decision =
                authorizer.Authorize(call->user, call->info, SelectorsOf(*call));
            if (call->audit() != nullptr) {
              call->audit()->Annotate("authorization.k8s.io/decision",
                                      decision.allowed ? "allow" : "forbid");
              call->audit()->Annotate("authorization.k8s.io/reason", decision.reason);
            }
            COX_RETURN_IF_ERROR(StatusOf(decision, call->user, call->info));
            return Next::kGoOn;
          }};
}

// A request whose body was not accepted fails in the stages above, unless its credential or its
// permissions have become valid meanwhile.
Result<Next> RequireBody(const std::shared_ptr<Call>& call) {
  if (!call->request().rejected) return Next::kGoOn;
  return Status::Unavailable("the body of the request was not received, please try again");
}

// Checks writes that carry a fencing token (filters/fencing/fencing.h). Other requests only pay for
// a header lookup.
Stage EnterFence(const Fencing* fencing) {
  return {"fencing", [fencing](const std::shared_ptr<Call>& call) -> Result<Next> {
            if (fencing == nullptr || !Fencing::Concerns(*call)) return Next::kGoOn;
            if (!call->may_wait) return Next::kWait;
            COX_RETURN_IF_ERROR(fencing->Enter(*call));
            return Next::kGoOn;
          }};
}

}  // namespace

// The order of this list is the order of execution.
Chain BuildChain(const ChainParts& p) {
  Chain chain{.stages = {}, .offload = p.offload};
  chain.stages = {
      {"requestinfo", ReadRequestInfo},
      {"metrics",
       [&metrics = p.metrics](const std::shared_ptr<Call>& call) -> Result<Next> {
         // Before authentication, so that unauthenticated requests are counted too.
         metrics.Follow(*call);
         return Next::kGoOn;
       }},
      SetTimeout(p.request_timeout),
      Authenticate(p.authenticator, p.auditor),
      Audit(p.auditor),  // after authn: events contain the user
      Impersonate(p.impersonation, p.authorizer),
      // By the impersonated user, and before authorization, because that takes time too.
      {"fairness",
       [&gate = p.gate](const std::shared_ptr<Call>& call) -> Result<Next> {
         return gate.Enter(call) ? Next::kGoOn : Next::kDone;
       }},
  };
  chain.after_fairness = chain.stages.size();
  chain.stages.insert(
      chain.stages.end(),
      {
          Authorize(p.authorizer),
          {"body", RequireBody},
          EnterFence(p.fencing),  // after authz, because it reads a Lease
          {"offload",
           [dispatch = p.dispatch](const std::shared_ptr<Call>& call) -> Result<Next> {
             // Admission and storage wait for other servers.
             if (!call->may_wait) return Next::kWait;
             dispatch(call);
             return Next::kDone;
           }},
      });
  return chain;
}

bool AcceptsBody(const net::Request& request, const Authenticator& authenticator,
                 const Authorizer& authorizer) {
  const Result<UserInfo> user = authenticator.Peek(request);
  if (!user.ok()) return AuthMethod::IsWouldWait(user.status());
  if (user->name != kAnonymousUser || authorizer.MayBlock()) return true;
  const Result<RequestInfo> info =
      ParseRequestInfo(request.method, request.target, Query::Parse(request.query()));
  return !info.ok() || authorizer.Authorize(*user, *info).allowed;
}

void RunChain(const Chain& chain, const std::shared_ptr<Call>& call, size_t from) {
  for (size_t i = from; i < chain.stages.size(); ++i) {
    const Result<Next> next = chain.stages[i].run(call);
    if (!next.ok()) return call->RespondStatus(next.status());
    if (*next == Next::kDone) return;
    if (*next == Next::kGoOn) continue;
    return chain.offload(call, [&chain, i](const std::shared_ptr<Call>& moved) {
      moved->may_wait = true;
      RunChain(chain, moved, i);
    });
  }
}

}  // namespace cox::apiserver
