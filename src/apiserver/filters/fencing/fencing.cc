// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/fencing/fencing.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/coordination/v1.h"
#include "apiserver/registry/store/fenced_context.h"
#include "coxswain/fencing.h"

namespace cox::apiserver {
namespace {

using coordination::v1::Lease;

// Set for users who may use a Lease that they may not read.
constexpr std::string_view kBlindKey = "blind";

// The attributes of a get request for the Lease.
RequestInfo GetLease(const ObjectKey& lease) {
  RequestInfo info;
  info.path = "/apis/coordination.k8s.io/v1/namespaces/" + lease.ns + "/leases/" + lease.name;
  info.verb = "get";
  info.is_resource = true;
  info.prefix = "apis";
  info.group = "coordination.k8s.io";
  info.version = "v1";
  info.namespace_ = lease.ns;
  info.resource = "leases";
  info.name = lease.name;
  return info;
}

// Components of a leader may write with their own service accounts, whose upstream roles do not
// include Leases. A token grants them nothing and only restricts their writes; the contents of the
// Lease are not disclosed to them.
bool IsAccountOf(const UserInfo& user, const std::string& ns) {
  return user.name.starts_with("system:serviceaccount:" + ns + ":");
}

Status Over(const Context& ctx, const FencingToken& token, const std::string& why) {
  std::string message = "term " + std::to_string(token.transitions) + " of \"" + token.holder +
                        "\" in Lease " + token.lease.ToString() + " is over";
  if (ctx.Value(kBlindKey).empty()) message += ": " + why;
  return DeposedStatus(Reason::kConflict, std::move(message));
}

// The term that a Lease contains.
struct Term {
  std::string holder;
  int32_t transitions = 0;

  bool Matches(const FencingToken& token) const {
    return holder == token.holder && transitions == token.transitions;
  }
};

Result<Term> ReadTerm(const ResourceStore& leases, std::string_view stored, storage::Revision at) {
  COX_ASSIGN_OR_RETURN(const Object object, leases.Decode(stored, at));
  const coordination::v1::LeaseSpec& spec = object.As<Lease>()->spec;
  return Term{spec.holderIdentity.value_or(""), spec.leaseTransitions.value_or(0)};
}

// Writes are checked again in their transaction. Connections to Pods, Nodes and Services and tokens
// of service accounts have no transaction, so only a linearizable read can reject them.
Fencing::LeaseFrom SourceFor(const RequestInfo& info) {
  const bool stored = !IsStreamSubresource(info.subresource) && info.subresource != "token";
  return stored ? Fencing::LeaseFrom::kCache : Fencing::LeaseFrom::kStorage;
}

}  // namespace

bool Fencing::Concerns(const Call& call) {
  if (!call.Header(kFencingHeader)) return false;
  constexpr std::array<std::string_view, 5> kWrites = {"create", "update", "patch", "delete",
                                                       "deletecollection"};
  return call.info.is_resource &&
         std::find(kWrites.begin(), kWrites.end(), call.info.verb) != kWrites.end();
}

Status Fencing::Enter(Call& call) const {
  const std::vector<std::string_view> values = call.request().headers.All(kFencingHeader);
  if (values.size() != 1) {
    return Status::BadRequest("more than one " + std::string(kFencingHeader) + " header");
  }
  COX_ASSIGN_OR_RETURN(const FencingToken token, FencingToken::Parse(values.front()));
  if (IsAccountOf(call.user, token.lease.ns)) {
    call.set_ctx(call.ctx().WithValue(kBlindKey, "true"));
  } else {
    const RequestInfo get = GetLease(token.lease);
    COX_RETURN_IF_ERROR(StatusOf(authorizer_.Authorize(call.user, get), call.user, get));
  }
  COX_RETURN_IF_ERROR(Check(call.ctx(), values.front(), SourceFor(call.info)).status());
  call.set_ctx(call.ctx().WithValue(kTermKey, values.front()));
  return {};
}

std::string_view Fencing::TermOf(const Context& ctx) { return ctx.Value(kTermKey); }

std::optional<storage::Guard> Fencing::CachedGuard(const FencingToken& token) const {
  if (leases_->cache() == nullptr) return std::nullopt;
  const storage::SnapshotPtr snapshot = leases_->cache()->Current();
  if (snapshot == nullptr) return std::nullopt;
  std::string key = leases_->Key(token.lease.ns, token.lease.name);
  const storage::EntryPtr entry = snapshot->Find(key);
  if (entry == nullptr) return std::nullopt;
  const Result<Term> term = ReadTerm(*leases_, entry->stored(), entry->revision());
  if (!term.ok() || !term->Matches(token)) return std::nullopt;
  return storage::Guard{std::move(key), entry->revision()};
}

Result<storage::Guard> Fencing::Check(Context& ctx, std::string_view term, LeaseFrom source) const {
  COX_ASSIGN_OR_RETURN(const FencingToken token, FencingToken::Parse(term));
  if (source == LeaseFrom::kCache) {
    if (std::optional<storage::Guard> guard = CachedGuard(token)) return *std::move(guard);
  }
  // Without the term: the store of the Leases is fenced too, and would check it again.
  Context unfenced = ctx.WithValue(kTermKey, "");
  const Result<storage::KeyValue> stored =
      leases_->GetStored(unfenced, token.lease.ns, token.lease.name);
  if (stored.status().Is(Reason::kNotFound)) return Over(ctx, token, "there is no such Lease");
  if (!stored.ok()) return stored.status();
  COX_ASSIGN_OR_RETURN(const Term current,
                       ReadTerm(*leases_, stored->value.view(), stored->revision));
  if (current.Matches(token)) return storage::Guard{stored->key, stored->revision};
  if (current.holder.empty()) return Over(ctx, token, "it was given back");
  return Over(
      ctx, token,
      "term " + std::to_string(current.transitions) + " is that of \"" + current.holder + "\"");
}

storage::Store& Fencing::store() const { return leases_->storage(); }

}  // namespace cox::apiserver
