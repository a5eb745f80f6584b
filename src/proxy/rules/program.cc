// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/program.h"

namespace cox::proxy {

void ProgramChange::Prepare(nft::Batch* batch) const {
  for (const auto& [name, set] : after.sets) {
    if (!before.sets.contains(name)) batch->AddSet(set);
  }
  for (const auto& [name, rules] : after.chains) {
    if (!before.chains.contains(name)) batch->AddChain(name);
  }
}

void ProgramChange::Release(nft::Batch* batch) const {
  for (const auto& [place, verdict] : before.elements) {
    const auto now = after.elements.find(place);
    if (now == after.elements.end() || now->second != verdict) {
      batch->DeleteElement(place.first, place.second);
    }
  }
}

void ProgramChange::Switch(nft::Batch* batch) const {
  for (const auto& [name, rules] : after.chains) {
    const auto was = before.chains.find(name);
    if (was != before.chains.end()) {
      if (was->second == rules) continue;
      batch->FlushChain(name);
    }
    for (const std::string& rule : rules) batch->AddRule(name, rule);
  }
  for (const auto& [place, verdict] : after.elements) {
    const auto was = before.elements.find(place);
    if (was == before.elements.end() || was->second != verdict) {
      batch->AddElement(place.first, place.second, verdict);
    }
  }
}

void ProgramChange::Clean(nft::Batch* batch) const {
  // Flush all chains before deleting any, because their rules reference each other.
  for (const auto& [name, rules] : before.chains) {
    if (!after.chains.contains(name)) batch->FlushChain(name);
  }
  for (const auto& [name, rules] : before.chains) {
    if (!after.chains.contains(name)) batch->DeleteChain(name);
  }
  for (const auto& [name, set] : before.sets) {
    if (!after.sets.contains(name)) batch->DeleteSet(name);
  }
}

}  // namespace cox::proxy
