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

// The ports of some Services; none for one that is gone.
using ServicePorts = std::map<ObjectKey, std::vector<ServicePort>>;

// What has been programmed into one family's table, and how it comes to be as it should: one
// transaction of the kernel for each call.
//
// Two Services may claim the same address and port (external IPs are whatever users write). The
// first keeps it until it goes.
// Threads: as a plain object.
// Errors: of the Committer. After one, what is programmed is unknown: Replace.
class TableState {
 public:
  TableState(Family family, TableOptions table, ServiceRuleOptions rules)
      : family_(family), table_(std::move(table)), rules_(std::move(rules)) {}

  // The table becomes exactly this; no packet sees it empty.
  Status Replace(nft::Committer& kernel, const ServicePorts& services);
  // Only these Services change. The cost is that of what changes.
  Status Apply(nft::Committer& kernel, const ServicePorts& changed);

  Family family() const { return family_; }
  size_t services() const { return programs_.size(); }
  // Of the last call: messages sent.
  size_t last_messages() const { return last_messages_; }

 private:
  using Place = std::pair<std::string, std::string>;  // set and key
  struct Programmed {
    Program program;
    std::set<Place> lost;  // what it wanted, and another has
  };

  Programmed Make(const ObjectKey& key, const std::vector<ServicePort>& ports);
  void Claim(const ObjectKey& key, Programmed* made);
  void Unclaim(const ObjectKey& key, const Program& program);
  // Those of which `changed` says nothing, but which wanted a place that became free.
  std::set<ObjectKey> Waiting(const ServicePorts& changed) const;

  const Family family_;
  const TableOptions table_;
  const ServiceRuleOptions rules_;
  std::map<ObjectKey, Programmed> programs_;
  std::map<ObjectKey, std::vector<ServicePort>> contested_;  // of those who lost a place
  std::map<Place, ObjectKey> owners_;
  size_t last_messages_ = 0;
};

}  // namespace cox::proxy
