// SPDX-License-Identifier: Apache-2.0
#include "object/scheme.h"

#include <algorithm>

#include "base/strings.h"

namespace cox {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io";

RestMapping ToMapping(const KindInfo& info) {
  std::string group(info.group);
  std::string version(info.version);
  return {.gvk = {group, version, std::string(info.kind)},
          .gvr = {group, version, std::string(info.plural)},
          .namespaced = info.namespaced,
          .info = &info};
}

bool Answers(const KindInfo& info, std::string_view name) {
  return info.IsResource() && (info.plural == name || info.singular == name ||
                               std::find(info.short_names.begin(), info.short_names.end(), name) !=
                                   info.short_names.end());
}

// The index of a kind's group version in the order of preference; unserved versions come last.
size_t Preference(const KindInfo& info) {
  size_t place = 0;
  for (const GroupInfo& group : ServedGroups()) {
    for (std::string_view version : group.versions) {
      if (group.group == info.group && version == info.version) return place;
      ++place;
    }
  }
  return place;
}

}  // namespace

const Scheme& Scheme::Builtin() {
  static const Scheme scheme(AllKinds());
  return scheme;
}

Scheme::Scheme(std::span<const KindInfo* const> kinds) {
  for (const KindInfo* kind : kinds) Add(*kind);
}

Scheme::Scheme(std::span<const KindInfo* const> kinds, const Scheme& base) : Scheme(kinds) {
  base_ = &base;
}

void Scheme::Add(const KindInfo& kind) {
  RestMapping mapping = ToMapping(kind);
  auto [at, fresh] = by_kind_.insert_or_assign(mapping.gvk, &kind);
  if (!fresh) {
    std::erase_if(kinds_, [&](const KindInfo* old) {
      return old->group == kind.group && old->version == kind.version && old->kind == kind.kind;
    });
  }
  kinds_.push_back(&kind);
  group_versions_[mapping.gvk.group_version()]++;
  // If two kinds have the same resource (a kind and the options of its subresource), the first
  // wins.
  if (kind.IsResource()) by_resource_.try_emplace(mapping.gvr, &kind);
}

const KindInfo* Scheme::FindKind(const GroupVersionKind& gvk) const {
  if (auto at = by_kind_.find(gvk); at != by_kind_.end()) return at->second;
  if (group_versions_.contains(gvk.group_version())) {
    if (const KindInfo* const meta = FindMeta(gvk.kind)) return meta;
  }
  return base_ == nullptr ? nullptr : base_->FindKind(gvk);
}

const KindInfo* Scheme::FindMeta(std::string_view kind) const {
  auto at = by_kind_.find({std::string(kMetaGroup), "v1", std::string(kind)});
  if (at != by_kind_.end()) return at->second;
  return base_ == nullptr ? nullptr : base_->FindMeta(kind);
}

const KindInfo* Scheme::FindResource(const GroupVersionResource& gvr) const {
  auto at = by_resource_.find(gvr);
  if (at != by_resource_.end()) return at->second;
  return base_ == nullptr ? nullptr : base_->FindResource(gvr);
}

Result<RestMapping> Scheme::MappingForKind(const GroupVersionKind& gvk) const {
  const KindInfo* info = FindKind(gvk);
  if (info == nullptr || !info->IsResource()) {
    return Status::NotFound("no matches for kind " + Quote(gvk.kind) + " in version " +
                            Quote(gvk.group_version().ToString()));
  }
  return ToMapping(*info);
}

Result<RestMapping> Scheme::MappingForResource(const GroupVersionResource& partial) const {
  const KindInfo* const best = BestMatch(partial);
  if (best == nullptr) return Status::NotFound("no matches for " + partial.ToString());
  return ToMapping(*best);
}

const KindInfo* Scheme::BestMatch(const GroupVersionResource& partial) const {
  const KindInfo* best = base_ == nullptr ? nullptr : base_->BestMatch(partial);
  for (const KindInfo* info : kinds_) {
    if (!partial.group.empty() && info->group != partial.group) continue;
    if (!partial.version.empty() && info->version != partial.version) continue;
    if (!Answers(*info, partial.resource)) continue;
    if (best == nullptr || Preference(*info) < Preference(*best)) best = info;
  }
  return best;
}

std::string GuessPlural(std::string_view kind) {
  std::string plural(kind);
  std::transform(plural.begin(), plural.end(), plural.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (plural.empty() || plural == "endpoints") return plural;
  char last = plural.back();
  if (last == 's') return plural + "es";
  if (last == 'y') return plural.substr(0, plural.size() - 1) + "ies";
  return plural + "s";
}

}  // namespace cox
