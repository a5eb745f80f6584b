// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/served/served.h"

#include <openssl/sha.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

#include "object/codec/json/text.h"

namespace cox::apiserver {
namespace {

struct EnabledVersion {
  std::string_view group;
  std::string_view version;
};

// Stable versions only: new beta versions have been off by default since v1.24, alpha ones always.
constexpr EnabledVersion kEnabled[] = {
    {"", "v1"},
    {"admissionregistration.k8s.io", "v1"},
    {"apiextensions.k8s.io", "v1"},
    {"apiregistration.k8s.io", "v1"},
    {"apps", "v1"},
    {"authentication.k8s.io", "v1"},
    {"authorization.k8s.io", "v1"},
    {"autoscaling", "v2"},
    {"autoscaling", "v1"},
    {"batch", "v1"},
    {"certificates.k8s.io", "v1"},
    {"coordination.k8s.io", "v1"},
    {"discovery.k8s.io", "v1"},
    {"events.k8s.io", "v1"},
    {"flowcontrol.apiserver.k8s.io", "v1"},
    {"networking.k8s.io", "v1"},
    {"node.k8s.io", "v1"},
    {"policy", "v1"},
    {"rbac.authorization.k8s.io", "v1"},
    {"resource.k8s.io", "v1"},
    {"scheduling.k8s.io", "v1"},
    {"storage.k8s.io", "v1"},
};

struct EnabledResource {
  std::string_view group;
  std::string_view version;
  std::string_view resource;
};

// Single resources of versions that are off as a whole. None at this API level; a beta resource
// that stays on for compatibility gets its line here.
constexpr std::span<const EnabledResource> kEnabledResources = {};

struct StoredAs {
  std::string_view group;
  std::string_view resource;
  std::string_view stored_group;
  std::string_view stored_version;
};

// Resources that are stored under another group or version than the preferred one, so that a server
// of the previous release can still read them, or because two groups share one store.
constexpr StoredAs kStoredAs[] = {
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies", "admissionregistration.k8s.io",
     "v1beta1"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings",
     "admissionregistration.k8s.io", "v1beta1"},
    {"apiextensions.k8s.io", "customresourcedefinitions", "apiextensions.k8s.io", "v1beta1"},
    {"autoscaling", "horizontalpodautoscalers", "autoscaling", "v2"},
    {"events.k8s.io", "events", "", "v1"},
};

GroupVersionKind StorageOf(const KindInfo& kind) {
  for (const StoredAs& row : kStoredAs) {
    if (row.group == kind.group && row.resource == kind.plural) {
      return {std::string(row.stored_group), std::string(row.stored_version),
              std::string(kind.kind)};
    }
  }
  return {};
}

// The parts of a version such as "v1beta2": stability (2: stable, 1: beta, 0: alpha), major, minor.
struct ParsedVersion {
  bool ok = false;
  int stability = 0;
  int major = 0;
  int minor = 0;
};

bool TakeNumber(std::string_view* text, int* number) {
  if (text->empty() || text->front() == '0') return false;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

ParsedVersion ParseVersion(std::string_view text) {
  ParsedVersion version;
  if (!text.starts_with('v')) return version;
  text.remove_prefix(1);
  if (!TakeNumber(&text, &version.major)) return version;
  if (text.empty()) {
    version.stability = 2;
    version.ok = true;
    return version;
  }
  if (text.starts_with("beta")) {
    version.stability = 1;
    text.remove_prefix(4);
  } else if (text.starts_with("alpha")) {
    text.remove_prefix(5);
  } else {
    return version;
  }
  version.ok = TakeNumber(&text, &version.minor) && text.empty();
  return version;
}

// The index of a group in discovery; the number of groups for groups that are not built in.
size_t GroupRank(std::string_view group) {
  const std::span<const GroupInfo> groups = ServedGroups();
  const auto at = std::find_if(groups.begin(), groups.end(),
                               [group](const GroupInfo& info) { return info.group == group; });
  return static_cast<size_t>(at - groups.begin());
}

}  // namespace

bool IsServedByDefault(std::string_view group, std::string_view version,
                       std::string_view resource) {
  const bool whole = std::any_of(std::begin(kEnabled), std::end(kEnabled), [&](const auto& row) {
    return row.group == group && row.version == version;
  });
  if (whole) return true;
  return std::any_of(kEnabledResources.begin(), kEnabledResources.end(), [&](const auto& row) {
    return row.group == group && row.version == version &&
           (resource.empty() || row.resource == resource);
  });
}

std::vector<ServedKind> DefaultServedKinds() {
  std::vector<ServedKind> served;
  for (const KindInfo* kind : AllKinds()) {
    if (!kind->IsResource() || !IsServedByDefault(kind->group, kind->version, kind->plural)) {
      continue;
    }
    served.push_back({.kind = kind, .storage = StorageOf(*kind)});
  }
  std::stable_sort(served.begin(), served.end(), [](const ServedKind& a, const ServedKind& b) {
    if (a.kind->group != b.kind->group) return GroupBefore(a.kind->group, b.kind->group);
    if (a.kind->version != b.kind->version) return VersionBefore(a.kind->version, b.kind->version);
    return a.kind->plural < b.kind->plural;
  });
  return served;
}

ServedGroup::ServedGroup(std::string name, std::vector<ServedKind> kinds)
    : name_(std::move(name)), kinds_(std::move(kinds)) {
  std::stable_sort(kinds_.begin(), kinds_.end(), [](const ServedKind& a, const ServedKind& b) {
    if (a.kind->version != b.kind->version) return VersionBefore(a.kind->version, b.kind->version);
    return a.kind->plural < b.kind->plural;
  });
  for (size_t i = 0; i < kinds_.size(); ++i) {
    const KindInfo& kind = *kinds_[i].kind;
    if (versions_.empty() || versions_.back() != kind.version) versions_.emplace_back(kind.version);
    by_path_.emplace(std::pair(kind.version, kind.plural), i);
  }
}

bool ServedGroup::custom() const {
  return std::all_of(kinds_.begin(), kinds_.end(),
                     [](const ServedKind& served) { return served.custom; });
}

const ServedKind* ServedGroup::Find(std::string_view version, std::string_view plural) const {
  const auto found = by_path_.find({version, plural});
  return found == by_path_.end() ? nullptr : &kinds_[found->second];
}

bool GroupBefore(std::string_view a, std::string_view b) {
  const size_t rank_a = GroupRank(a), rank_b = GroupRank(b);
  return rank_a != rank_b ? rank_a < rank_b : a < b;
}

std::vector<ServedGroup> GroupsOf(std::span<const ServedKind> kinds) {
  const auto before = [](std::string_view a, std::string_view b) { return GroupBefore(a, b); };
  std::map<std::string, std::vector<ServedKind>, decltype(before)> by_group(before);
  for (const ServedKind& served : kinds)
    by_group[std::string(served.kind->group)].push_back(served);
  std::vector<ServedGroup> groups;
  for (auto& [name, members] : by_group) groups.emplace_back(name, std::move(members));
  return groups;
}

std::string StorageVersionHash(std::string_view group, std::string_view version,
                               std::string_view kind) {
  std::string text;
  text.append(group).append("/").append(version).append("/").append(kind);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string hash;
  json::WriteBase64({reinterpret_cast<const char*>(digest), 8}, &hash);
  return hash;
}

std::string StorageVersionHash(const ServedKind& served) {
  const KindInfo& kind = *served.kind;
  const bool stored = std::find(kind.verbs.begin(), kind.verbs.end(), "update") != kind.verbs.end();
  if (!stored) return {};
  const GroupVersionKind& storage = served.storage;
  if (storage.empty()) return StorageVersionHash(kind.group, kind.version, kind.kind);
  return StorageVersionHash(storage.group, storage.version, storage.kind);
}

bool VersionBefore(std::string_view a, std::string_view b) {
  const ParsedVersion va = ParseVersion(a), vb = ParseVersion(b);
  if (va.ok != vb.ok) return va.ok;
  if (!va.ok) return a < b;
  return std::make_tuple(va.stability, va.major, va.minor) >
         std::make_tuple(vb.stability, vb.major, vb.minor);
}

}  // namespace cox::apiserver
