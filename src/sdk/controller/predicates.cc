// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "api/meta/v1.h"
#include "coxswain/predicate.h"

namespace cox::predicates {
namespace {

using StringMap = Map<std::string>;

// A map of the metadata, for typed and dynamic objects.
StringMap MapOf(const Object& object, StringMap meta::v1::ObjectMeta::*member,
                std::string_view name) {
  if (const meta::v1::ObjectMeta* meta = object.object_meta()) return meta->*member;
  StringMap map;
  const Value* metadata = object.is_typed() ? nullptr : object.value().Find("metadata");
  const Value* entries = metadata == nullptr ? nullptr : metadata->Find(name);
  if (entries == nullptr || !entries->is_object()) return map;
  for (const auto& [key, value] : entries->as_object()) {
    if (value.is_string()) map[std::string(key)] = std::string(value.as_string());
  }
  return map;
}

// Passes creations and deletions, and updates for which `different` is true.
Predicate Changed(std::function<bool(const Object& before, const Object& after)> different) {
  return [different = std::move(different)](const Delta& delta) {
    if (delta.type == Delta::Type::kResync) return false;
    if (delta.type != Delta::Type::kUpdated) return true;
    return delta.before == nullptr || delta.after == nullptr ||
           different(*delta.before, *delta.after);
  };
}

Predicate MapChanged(StringMap meta::v1::ObjectMeta::*member, std::string name) {
  return Changed([member, name = std::move(name)](const Object& before, const Object& after) {
    const meta::v1::ObjectMeta* was = before.object_meta();
    const meta::v1::ObjectMeta* is = after.object_meta();
    if (was != nullptr && is != nullptr) return was->*member != is->*member;
    return MapOf(before, member, name) != MapOf(after, member, name);
  });
}

}  // namespace

Predicate GenerationChanged() {
  return Changed([](const Object& before, const Object& after) {
    return HeadOf(before).generation != HeadOf(after).generation;
  });
}

Predicate LabelsChanged() { return MapChanged(&meta::v1::ObjectMeta::labels, "labels"); }

Predicate AnnotationsChanged() {
  return MapChanged(&meta::v1::ObjectMeta::annotations, "annotations");
}

Predicate ResourceVersionChanged() {
  return Changed([](const Object& before, const Object& after) {
    return HeadOf(before).version != HeadOf(after).version;
  });
}

Predicate HasLabels(labels::Selector selector) {
  return [selector = std::move(selector)](const Delta& delta) {
    const Object& object = *delta.object();
    if (const meta::v1::ObjectMeta* meta = object.object_meta()) {
      return selector.Matches(meta->labels);
    }
    return selector.Matches(MapOf(object, &meta::v1::ObjectMeta::labels, "labels"));
  };
}

Predicate InNamespace(std::string ns) {
  return [ns = std::move(ns)](const Delta& delta) { return HeadOf(*delta.object()).key.ns == ns; };
}

Predicate NotOwnWrites(std::string writer) {
  return [writer = std::move(writer)](const Delta& delta) { return delta.own_writer != writer; };
}

Predicate All(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const Delta& delta) {
    return std::all_of(predicates.begin(), predicates.end(),
                       [&](const Predicate& predicate) { return predicate(delta); });
  };
}

Predicate Any(std::vector<Predicate> predicates) {
  return [predicates = std::move(predicates)](const Delta& delta) {
    return std::any_of(predicates.begin(), predicates.end(),
                       [&](const Predicate& predicate) { return predicate(delta); });
  };
}

Predicate Not(Predicate predicate) {
  return [predicate = std::move(predicate)](const Delta& delta) { return !predicate(delta); };
}

}  // namespace cox::predicates
