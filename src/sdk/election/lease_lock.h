// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/coordination/v1.h"
#include "base/clock.h"
#include "coxswain/client.h"
#include "coxswain/leader_election.h"

namespace cox::sdk {

using coordination::v1::Lease;
using coordination::v1::LeaseSpec;

// The Lease of an election on the server. Each call is one request; writes are conditional on the
// resourceVersion that was read, so that only one of two concurrent writers succeeds.
//
// Threads: all methods may be called concurrently.
// Ownership: the client must outlive this object.
class LeaseLock {
 public:
  LeaseLock(Client& client, ObjectKey key) : client_(client), key_(std::move(key)) {}

  const ObjectKey& key() const { return key_; }
  Result<Lease> Get(Context& ctx) const;
  Result<Lease> Create(Context& ctx, LeaseSpec spec) const;
  // REQUIRES: lease.metadata.resourceVersion is set
  Result<Lease> Update(Context& ctx, Lease lease) const;

 private:
  Client& client_;
  const ObjectKey key_;
};

// Values of a Lease, with defaults for absent optional fields.
std::string HolderOf(const LeaseSpec& spec);
int32_t TransitionsOf(const LeaseSpec& spec);
// The number of the next term. Invalid numbers restart at 0.
int32_t NextTransition(const LeaseSpec& spec);

// Sets the fields for `holder`, whose term number `transitions` begins now. Fields of coordinated
// leader election (strategy, preferredHolder) are not changed.
void BeginTerm(LeaseSpec& spec, const std::string& holder, int32_t transitions,
               Clock::Duration lease_duration, MicroTime now);
// Releases the Lease: any candidate may acquire it at once.
void ReleaseLease(LeaseSpec& spec, MicroTime now);

// The current time in the precision of Leases. Informative only: candidates do not compare it with
// their clocks.
MicroTime MicroNow(const Clock& clock);

}  // namespace cox::sdk
