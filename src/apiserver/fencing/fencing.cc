// SPDX-License-Identifier: Apache-2.0
#include "apiserver/fencing/fencing.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/coordination/v1.h"
#include "coxswain/fencing.h"

namespace cox::apiserver {
namespace {

using coordination::v1::Lease;

class LeaseFence final : public Fence {
 public:
  LeaseFence(const ResourceStore& leases, FencingToken token)
      : leases_(leases), token_(std::move(token)) {}

  Result<storage::Guard> Check(Context& ctx) const override {
    const ObjectKey& key = token_.lease;
    const Result<storage::KeyValue> stored = leases_.GetStored(ctx, key.ns, key.name);
    if (stored.status().Is(Reason::kNotFound)) return Over("there is no such Lease");
    if (!stored.ok()) return stored.status();
    COX_ASSIGN_OR_RETURN(const Object object,
                         leases_.Decode(stored->value.view(), stored->revision));
    const coordination::v1::LeaseSpec& spec = object.As<Lease>()->spec;
    const std::string holder = spec.holderIdentity.value_or("");
    const int32_t transitions = spec.leaseTransitions.value_or(0);
    if (holder == token_.holder && transitions == token_.transitions) {
      return storage::Guard{stored->key, stored->revision};
    }
    if (holder.empty()) return Over("it was given back");
    // Whoever gets here may read it.
    return Over("term " + std::to_string(transitions) + " is that of \"" + holder + "\"");
  }
  storage::Store& store() const override { return leases_.storage(); }

 private:
  Status Over(const std::string& why) const {
    return DeposedStatus(Reason::kConflict, "term " + std::to_string(token_.transitions) +
                                                " of \"" + token_.holder + "\" in Lease " +
                                                token_.lease.ToString() + " is over: " + why);
  }

  const ResourceStore& leases_;
  const FencingToken token_;
};

// What a get of the Lease would ask for.
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

}  // namespace

bool Fencing::Concerns(const Call& call) {
  if (!call.Header(kFencingHeader)) return false;
  constexpr std::array<std::string_view, 5> kWrites = {"create", "update", "patch", "delete",
                                                       "deletecollection"};
  return call.info.is_resource &&
         std::find(kWrites.begin(), kWrites.end(), call.info.verb) != kWrites.end();
}

Result<std::shared_ptr<const Fence>> Fencing::Enter(Call& call) const {
  const std::vector<std::string_view> values = call.request().headers.All(kFencingHeader);
  if (values.size() != 1) {
    return Status::BadRequest("more than one " + std::string(kFencingHeader) + " header");
  }
  COX_ASSIGN_OR_RETURN(FencingToken token, FencingToken::Parse(values.front()));
  const RequestInfo get = GetLease(token.lease);
  COX_RETURN_IF_ERROR(StatusOf(authorizer_.Authorize(call.user, get), call.user, get));
  auto fence =
      std::make_shared<const LeaseFence>(registry_.Hub(Lease::kKind).store(), std::move(token));
  COX_RETURN_IF_ERROR(fence->Check(call.ctx()).status());
  return fence;
}

}  // namespace cox::apiserver
