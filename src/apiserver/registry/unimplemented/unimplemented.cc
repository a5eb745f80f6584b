// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/unimplemented/unimplemented.h"

#include <map>
#include <unordered_map>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "apiserver/registry/unimplemented/features.h"
#include "apiserver/registry/unimplemented/path_tree.h"
#include "base/check.h"

namespace cox::apiserver {
namespace {

// These clients do not show their warnings to a person.
bool IsClusterComponent(const UserInfo& user) {
  static constexpr std::string_view kPrefixes[] = {
      "system:apiserver", "system:kube-", "system:node:", "system:serviceaccount:kube-system:"};
  for (const std::string_view prefix : kPrefixes) {
    if (user.name.starts_with(prefix)) return true;
  }
  return false;
}

// The text of a string or a bool; empty for other types, whose values the table does not compare.
std::string_view TextOf(const FieldRef& value) {
  if (value.type->shape == Shape::kString) return *static_cast<const std::string*>(value.at);
  if (value.type->shape != Shape::kBool) return {};
  return *static_cast<const bool*>(value.at) ? "true" : "false";
}

bool HasValue(const FieldRef& value, std::string_view pattern) {
  if (!pattern.ends_with('*')) return TextOf(value) == pattern;
  return TextOf(value).starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string Warning(std::string_view subject, std::string_view effect) {
  return std::string(subject).append(": not implemented: ").append(effect);
}

// The entries of the table for one kind.
class KindFeatures {
 public:
  explicit KindFeatures(const Type& type) : paths_(type) {}

  void Add(const Feature& feature, std::string_view prefix) {
    Entry entry{.feature = &feature};
    if (!feature.unless.empty()) {
      const size_t equals = feature.unless.rfind('=');
      Result<std::vector<PathStep>> path = ParsePath(feature.unless.substr(0, equals));
      COX_CHECK(path.ok());
      entry.unless_path = *std::move(path);
      entry.unless_value = feature.unless.substr(equals + 1);
    }
    entries_.push_back(std::move(entry));
    if (feature.path.empty()) return;
    const std::string path = std::string(prefix).append(feature.path);
    COX_CHECK(paths_.Add(path, static_cast<int>(entries_.size()) - 1).ok());
  }

  // In the order of the table.
  std::vector<std::string> WarningsFor(const Object& object) const {
    std::map<int, std::string> found;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Feature& feature = *entries_[i].feature;
      if (!feature.path.empty()) continue;
      found[static_cast<int>(i)] = Warning(feature.kind->kind, feature.effect);
    }
    if (!paths_.empty()) {
      paths_.Visit(object.data(), [&](const PathTree::Match& match) {
        const Entry& entry = entries_[static_cast<size_t>(match.id)];
        // The number of warnings is bounded by the table, not by the lists of the object.
        if (found.contains(match.id) || !Requests(entry, match)) return;
        std::string subject = match.path();
        if (!entry.feature->value.empty()) subject.append("=").append(TextOf(match.value));
        found[match.id] = Warning(subject, entry.feature->effect);
      });
    }
    std::vector<std::string> warnings;
    for (auto& [id, text] : found) warnings.push_back(std::move(text));
    return warnings;
  }

 private:
  struct Entry {
    const Feature* feature;
    std::vector<PathStep> unless_path = {};
    std::string_view unless_value = {};
  };

  static bool Requests(const Entry& entry, const PathTree::Match& match) {
    const Feature& feature = *entry.feature;
    if (!feature.value.empty() && !HasValue(match.value, feature.value)) return false;
    if (entry.unless_path.empty()) return true;
    const auto other = FindField(*match.parent.type, match.parent.at, entry.unless_path);
    return !other || TextOf(*other) != entry.unless_value;
  }

  std::vector<Entry> entries_;
  PathTree paths_;
};

using FeaturesByType = std::unordered_map<const Type*, KindFeatures>;

FeaturesByType CompileFeatures() {
  FeaturesByType all;
  const auto of = [&all](const KindInfo& kind) -> KindFeatures& {
    return all.try_emplace(kind.type, *kind.type).first->second;
  };
  for (const Feature& feature : UnimplementedFeatures()) {
    if (!feature.subresource.empty()) continue;
    if (feature.kind != nullptr) of(*feature.kind).Add(feature, "");
    if (feature.kind != nullptr) continue;
    for (const PodSpecPath& pod : PodSpecPaths()) {
      of(*pod.kind).Add(feature, std::string(pod.path) + ".");
    }
  }
  return all;
}

// Whether an update changes more than metadata. The update of an object itself never changes its
// status.
bool ChangesSpec(const Object& object, const Object& old) {
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  if (meta.generation != old.object_meta()->generation) return true;
  if (meta.generation != 0) return false;
  Object renewed = old;
  *renewed.object_meta() = meta;
  return !(renewed == object);
}

}  // namespace

std::vector<std::string> UnimplementedWarnings(const UserInfo& user, const Object& object,
                                               const Object* old) {
  static const FeaturesByType kFeatures = CompileFeatures();
  if (!object.is_typed() || IsClusterComponent(user)) return {};
  if (old != nullptr && object.As<core::v1::Pod>() != nullptr) return {};
  const auto found = kFeatures.find(&object.type());
  if (found == kFeatures.end()) return {};
  std::vector<std::string> warnings = found->second.WarningsFor(object);
  if (!warnings.empty() && old != nullptr && !ChangesSpec(object, *old)) return {};
  return warnings;
}

std::vector<std::string> UnimplementedSubresourceWarnings(const UserInfo& user,
                                                          const KindInfo& kind,
                                                          std::string_view subresource) {
  if (IsClusterComponent(user)) return {};
  std::vector<std::string> warnings;
  for (const Feature& feature : UnimplementedFeatures()) {
    if (feature.subresource != subresource || feature.kind != &kind) continue;
    warnings.push_back(
        Warning(std::string(kind.kind).append("/").append(subresource), feature.effect));
  }
  return warnings;
}

}  // namespace cox::apiserver
