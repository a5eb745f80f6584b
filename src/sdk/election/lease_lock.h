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

// The Lease of an election, at the server. Each call is one request; writes depend on the
// resourceVersion of what was read, so that of two who try one wins.
//
// Threads: all methods may be called concurrently. Ownership: the client outlives it.
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

// What a Lease says, with the API's optional parts resolved.
std::string HolderOf(const LeaseSpec& spec);
int32_t TransitionsOf(const LeaseSpec& spec);
// Of the term after this one. Numbers that no elector has written begin anew.
int32_t NextTransition(const LeaseSpec& spec);

// Makes `spec` that of `holder`, who begins term number `transitions` now. What belongs to
// coordinated election (strategy, preferredHolder) stays as it is.
void BeginTerm(LeaseSpec& spec, const std::string& holder, int32_t transitions,
               Clock::Duration lease_duration, MicroTime now);
// Makes it nobody's: whoever comes next may take it at once.
void GiveBack(LeaseSpec& spec, MicroTime now);

// The present as Leases record it. For people: nobody compares it with his own clock.
MicroTime MicroNow(const Clock& clock);

}  // namespace cox::sdk
