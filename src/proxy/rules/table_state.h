// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "coxswain/object_key.h"
#include "proxy/model/service_port.h"
#include "proxy/nft/socket.h"
#include "proxy/rules/program.h"
#include "proxy/rules/service_program.h"
#include "proxy/rules/table.h"

namespace cox::proxy {

// The ports of some Services; empty for a deleted Service.
using ServicePorts = std::map<ObjectKey, std::vector<ServicePort>>;

// The programmed state of one family's table. Each call updates it in one kernel transaction.
//
// Two Services may claim the same address and port (users choose external IPs freely). The first
// one keeps it until it is deleted.
// Threads: as a plain object.
// Errors: those of the Committer. After an error the programmed state is unknown: call Replace.
class TableState {
 public:
  TableState(Family family, TableOptions table, ServiceRuleOptions rules)
      : family_(family), table_(std::move(table)), rules_(rules) {}

  // Replaces the whole table atomically; no packet sees an empty table. The clients that endpoints
  // with session affinity remember stay, also if another process wrote the table.
  Status Replace(nft::Committer& kernel, const ServicePorts& services);
  // Changes only these Services. The cost depends only on the change.
  Status Apply(nft::Committer& kernel, const ServicePorts& changed);

  Family family() const { return family_; }
  size_t services() const { return programs_.size(); }
  // The number of messages of the last call.
  size_t last_messages() const { return last_messages_; }

 private:
  using Place = std::pair<std::string, std::string>;  // set and key
  struct Programmed {
    Program program;
    std::set<Place> lost;  // claimed, but owned by another Service
  };

  Programmed Make(const ObjectKey& key, const std::vector<ServicePort>& ports);
  // Adds everything to a batch that clears the table; `kept` are the sets that stay.
  void AddAll(const Program& kept, nft::Batch* batch) const;
  // The affinity sets of the programs that the kernel has already.
  Program FindKept(const nft::Listing& listing) const;
  void Claim(const ObjectKey& key, Programmed* made);
  void Unclaim(const ObjectKey& key, const Program& program);
  // Services that are not in `changed`, but claimed a place that is free now.
  std::set<ObjectKey> Waiting(const ServicePorts& changed) const;

  const Family family_;
  const TableOptions table_;
  const ServiceRuleOptions rules_;
  std::map<ObjectKey, Programmed> programs_;
  std::map<ObjectKey, std::vector<ServicePort>> contested_;  // of Services with lost places
  std::map<Place, ObjectKey> owners_;
  size_t last_messages_ = 0;
};

}  // namespace cox::proxy
