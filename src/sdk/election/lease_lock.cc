// SPDX-License-Identifier: Apache-2.0
#include "sdk/election/lease_lock.h"

#include <limits>

namespace cox::sdk {
namespace {

Result<Lease> LeaseIn(Result<Object> answer) {
  if (!answer.ok()) return answer.status();
  Lease* lease = answer->As<Lease>();
  if (lease == nullptr) {
    return Status::Internal("the server answered with a " + answer->gvk().ToString());
  }
  return std::move(*lease);
}

int32_t WholeSeconds(Clock::Duration duration) {
  return static_cast<int32_t>(std::chrono::ceil<std::chrono::seconds>(duration).count());
}

}  // namespace

Result<Lease> LeaseLock::Get(Context& ctx) const {
  const Resource leases = Resource::Of<Lease>();
  const GetOptions newest;
  return LeaseIn(client_.Execute(
      ctx, {.verb = Operation::Verb::kGet, .resource = leases, .key = key_, .get = &newest}));
}

Result<Lease> LeaseLock::Create(Context& ctx, LeaseSpec spec) const {
  const Resource leases = Resource::Of<Lease>();
  const WriteOptions options;
  Lease lease{.spec = std::move(spec)};
  lease.metadata.namespace_ = key_.ns;
  lease.metadata.name = key_.name;
  const Object body = Object::Of(std::move(lease));
  return LeaseIn(client_.Execute(ctx, {.verb = Operation::Verb::kCreate,
                                       .resource = leases,
                                       .key = key_,
                                       .body = &body,
                                       .write = &options}));
}

Result<Lease> LeaseLock::Update(Context& ctx, Lease lease) const {
  const Resource leases = Resource::Of<Lease>();
  const WriteOptions options;
  const Object body = Object::Of(std::move(lease));
  return LeaseIn(client_.Execute(ctx, {.verb = Operation::Verb::kUpdate,
                                       .resource = leases,
                                       .key = key_,
                                       .body = &body,
                                       .write = &options}));
}

std::string HolderOf(const LeaseSpec& spec) { return spec.holderIdentity.value_or(""); }
int32_t TransitionsOf(const LeaseSpec& spec) { return spec.leaseTransitions.value_or(0); }

int32_t NextTransition(const LeaseSpec& spec) {
  const int32_t last = TransitionsOf(spec);
  return last < 0 || last == std::numeric_limits<int32_t>::max() ? 0 : last + 1;
}

void BeginTerm(LeaseSpec& spec, const std::string& holder, int32_t transitions,
               Clock::Duration lease_duration, MicroTime now) {
  spec.holderIdentity = holder;
  spec.leaseTransitions = transitions;
  spec.leaseDurationSeconds = WholeSeconds(lease_duration);
  spec.acquireTime = now;
  spec.renewTime = now;
}

void ReleaseLease(LeaseSpec& spec, MicroTime now) {
  spec.holderIdentity = "";
  spec.leaseDurationSeconds = 1;  // minimum of the API
  spec.acquireTime = now;
  spec.renewTime = now;
}

MicroTime MicroNow(const Clock& clock) {
  const auto since = clock.Now().time_since_epoch();
  const auto micros = std::chrono::floor<std::chrono::microseconds>(since);
  return MicroTime::FromUnixNanos(std::chrono::nanoseconds(micros).count());
}

}  // namespace cox::sdk
