// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proxy/nft/batch.h"

namespace cox::proxy {

// A part of a table: chains with rules, sets that packets fill, elements of the table's maps. Plain
// data, so that two programs can be compared and the difference applied.
struct Program {
  std::map<std::string, std::vector<std::string>> chains;  // rules encoded by RuleBuilder
  std::map<std::string, nft::SetSpec> sets;
  // By set and key: the encoded verdict; empty for plain sets.
  std::map<std::pair<std::string, std::string>, std::string> elements;

  bool empty() const { return chains.empty() && sets.empty() && elements.empty(); }
  bool operator==(const Program&) const = default;
};

// Adds one change to a batch in steps. In a batch with several changes, call Prepare for all of
// them, then Release for all, and so on: then nothing is referenced before it exists, nor removed
// while it is referenced.
struct ProgramChange {
  const Program& before;
  const Program& after;

  void Prepare(nft::Batch* batch) const;  // new sets, new chains without rules
  void Release(nft::Batch* batch) const;  // removes elements; another program may add their keys
  void Switch(nft::Batch* batch) const;   // replaces rules and adds elements
  void Clean(nft::Batch* batch) const;    // removes old chains and sets
};

}  // namespace cox::proxy
