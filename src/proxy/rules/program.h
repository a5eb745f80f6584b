// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proxy/nft/batch.h"

namespace cox::proxy {

// A part of a table: chains with their rules, sets that packets fill, elements of the table's maps.
// Plain data: two programs can be compared, and the difference is what has to be changed.
struct Program {
  std::map<std::string, std::vector<std::string>> chains;  // rules as RuleBuilder writes them
  std::map<std::string, nft::SetSpec> sets;
  // By set and key: the encoded verdict, empty for plain sets.
  std::map<std::pair<std::string, std::string>, std::string> elements;

  bool empty() const { return chains.empty() && sets.empty() && elements.empty(); }
  bool operator==(const Program&) const = default;
};

// Adds one change to a batch in steps. What the changes of one batch share goes in an order in
// which nothing is named before it is there, nor removed while something names it: call Prepare for
// all of them, then Release for all, and so on.
struct ProgramChange {
  const Program& before;
  const Program& after;

  void Prepare(nft::Batch* batch) const;  // new sets, new chains without rules
  void Release(nft::Batch* batch) const;  // elements go: another program may want their keys
  void Switch(nft::Batch* batch) const;   // rules are replaced, elements come
  void Clean(nft::Batch* batch) const;    // old chains and sets go
};

}  // namespace cox::proxy
