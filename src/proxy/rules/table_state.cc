// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/table_state.h"

#include <algorithm>
#include <utility>

namespace cox::proxy {

TableState::Programmed TableState::Make(const ObjectKey& key,
                                        const std::vector<ServicePort>& ports) {
  Programmed made;
  for (const ServicePort& port : ports) {
    Program one = MakeServiceProgram(port, rules_);
    made.program.chains.merge(one.chains);
    made.program.sets.merge(one.sets);
    made.program.elements.merge(one.elements);
  }
  Claim(key, &made);
  return made;
}

void TableState::Claim(const ObjectKey& key, Programmed* made) {
  for (auto it = made->program.elements.begin(); it != made->program.elements.end();) {
    const auto [owner, taken] = owners_.try_emplace(it->first, key);
    if (owner->second == key) {
      ++it;
    } else {
      made->lost.insert(it->first);
      it = made->program.elements.erase(it);
    }
  }
}

void TableState::Unclaim(const ObjectKey& key, const Program& program) {
  for (const auto& [place, verdict] : program.elements) {
    const auto owner = owners_.find(place);
    if (owner != owners_.end() && owner->second == key) owners_.erase(owner);
  }
}

std::set<ObjectKey> TableState::Waiting(const ServicePorts& changed) const {
  std::set<ObjectKey> waiting;
  for (const auto& [key, ports] : contested_) {
    if (changed.contains(key)) continue;
    const auto& lost = programs_.at(key).lost;
    if (std::any_of(lost.begin(), lost.end(),
                    [this](const Place& place) { return !owners_.contains(place); })) {
      waiting.insert(key);
    }
  }
  return waiting;
}

Status TableState::Replace(nft::Committer& kernel, const ServicePorts& services) {
  programs_.clear();
  contested_.clear();
  owners_.clear();
  const Program nothing;
  nft::Batch batch(family_, kTable);
  AddFrame(family_, table_, &batch);
  for (const auto& [key, ports] : services) {
    if (ports.empty()) continue;
    Programmed made = Make(key, ports);
    if (!made.lost.empty()) contested_[key] = ports;
    programs_[key] = std::move(made);
  }
  for (const auto& [key, made] : programs_) ProgramChange{nothing, made.program}.Prepare(&batch);
  for (const auto& [key, made] : programs_) ProgramChange{nothing, made.program}.Switch(&batch);
  last_messages_ = batch.count();
  return kernel.Commit(batch);
}

Status TableState::Apply(nft::Committer& kernel, const ServicePorts& changed) {
  std::map<ObjectKey, Programmed> before;
  ServicePorts todo = changed;
  for (const auto& [key, ports] : changed) {
    const auto found = programs_.find(key);
    if (found != programs_.end()) Unclaim(key, found->second.program);
  }
  std::map<ObjectKey, Programmed> after;
  for (const auto& [key, ports] : changed) after[key] = Make(key, ports);
  for (const ObjectKey& key : Waiting(changed)) {
    todo[key] = contested_[key];
    Unclaim(key, programs_[key].program);
    after[key] = Make(key, todo[key]);
  }
  nft::Batch batch(family_, kTable);
  for (const auto& [key, made] : after) before[key] = std::move(programs_[key]);
  using Step = void (ProgramChange::*)(nft::Batch*) const;
  for (const Step step : {&ProgramChange::Prepare, &ProgramChange::Release, &ProgramChange::Switch,
                          &ProgramChange::Clean}) {
    for (const auto& [key, made] : after) {
      (ProgramChange{before[key].program, made.program}.*step)(&batch);
    }
  }
  last_messages_ = batch.count();
  for (auto& [key, made] : after) {
    contested_.erase(key);
    if (!made.lost.empty()) contested_[key] = todo[key];
    if (todo[key].empty()) {
      programs_.erase(key);
    } else {
      programs_[key] = std::move(made);
    }
  }
  return kernel.Commit(batch);
}

}  // namespace cox::proxy
