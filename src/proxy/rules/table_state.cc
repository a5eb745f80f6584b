// SPDX-License-Identifier: Apache-2.0
#include "proxy/rules/table_state.h"

#include <algorithm>
#include <utility>

namespace cox::proxy {
namespace {

bool IsAffinity(const nft::SetSpec& set) { return set.timeout_milliseconds > 0; }

}  // namespace

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
  for (const auto& [key, ports] : services) {
    if (ports.empty()) continue;
    Programmed made = Make(key, ports);
    if (!made.lost.empty()) contested_[key] = ports;
    programs_[key] = std::move(made);
  }
  const bool has_affinity =
      std::any_of(programs_.begin(), programs_.end(), [](const auto& programmed) {
        const auto& sets = programmed.second.program.sets;
        return std::any_of(sets.begin(), sets.end(),
                           [](const auto& set) { return IsAffinity(set.second); });
      });
  if (has_affinity) {
    const Result<nft::Listing> listing = kernel.List(family_, kTable);
    const Program kept = listing.ok() ? FindKept(*listing) : Program();
    if (!kept.empty()) {
      nft::Batch batch(family_, kTable);
      std::set<std::string> names;
      for (const auto& [name, set] : kept.sets) names.insert(name);
      ClearTable(*listing, names, &batch);
      AddAll(kept, &batch);
      if (kernel.Commit(batch).ok()) {
        last_messages_ = batch.count();
        return {};
      }
      // Another program changed the table: correct rules are more important than affinity.
    }
  }
  nft::Batch batch(family_, kTable);
  ResetTable(&batch);
  AddAll(Program(), &batch);
  last_messages_ = batch.count();
  return kernel.Commit(batch);
}

Program TableState::FindKept(const nft::Listing& listing) const {
  std::map<std::string_view, const nft::SetSpec*> wanted;
  for (const auto& [key, made] : programs_) {
    for (const auto& [name, set] : made.program.sets) {
      if (IsAffinity(set)) wanted[name] = &set;
    }
  }
  Program kept;
  for (const nft::Listing::Set& set : listing.sets) {
    const auto found = wanted.find(set.name);
    if (found == wanted.end() || !set.Matches(*found->second, family_)) continue;
    kept.sets[set.name] = *found->second;
  }
  return kept;
}

void TableState::AddAll(const Program& kept, nft::Batch* batch) const {
  AddFrame(family_, table_, batch);
  for (const auto& [key, made] : programs_) ProgramChange{kept, made.program}.Prepare(batch);
  for (const auto& [key, made] : programs_) ProgramChange{kept, made.program}.Switch(batch);
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
