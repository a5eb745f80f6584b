// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/scale/scale.h"

#include <string>
#include <utility>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "object/selector/labels.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver {
namespace {

using autoscaling::v1::Scale;
using core::v1::ReplicationController;

std::string SelectorText(const Box<meta::v1::LabelSelector>& selector) {
  auto parsed = labels::Selector::FromLabelSelector(selector.get());
  return parsed.ok() ? parsed->ToString() : "";
}
std::string SelectorText(const Map<std::string>& selector) {
  std::string text;
  for (const auto& [key, value] : selector) {
    if (!text.empty()) text += ',';
    text.append(key).append("=").append(value);
  }
  return text;
}

// Calls `fn` with the typed object; false if it is of another kind.
template <class Fn>
bool Visit(const Object& object, Fn&& fn) {
  auto visit = [&](const auto* typed) {
    if (typed != nullptr) fn(*typed);
    return typed != nullptr;
  };
  return visit(object.As<apps::v1::Deployment>()) || visit(object.As<apps::v1::ReplicaSet>()) ||
         visit(object.As<apps::v1::StatefulSet>()) || visit(object.As<ReplicationController>());
}

}  // namespace

bool HasScale(const Object& object) {
  return Visit(object, [](const auto&) {});
}

Scale ToScale(const Object& object) {
  Scale scale;
  Visit(object, [&](const auto& typed) {
    const meta::v1::ObjectMeta& meta = typed.metadata;
    scale.metadata.name = meta.name;
    scale.metadata.namespace_ = meta.namespace_;
    scale.metadata.uid = meta.uid;
    scale.metadata.resourceVersion = meta.resourceVersion;
    scale.metadata.creationTimestamp = meta.creationTimestamp;
    scale.spec.replicas = typed.spec.replicas.value_or(0);
    scale.status.replicas = typed.status.replicas;
    scale.status.selector = SelectorText(typed.spec.selector);
  });
  return scale;
}

FieldErrorList ValidateScale(const Scale& scale) {
  return validation::ValidateNonnegativeField(scale.spec.replicas,
                                              FieldPath("spec").Child("replicas"));
}

void FromScale(const Scale& scale, Object* object) {
  auto set = [&](auto* typed) {
    if (typed == nullptr) return;
    typed->spec.replicas = scale.spec.replicas;
    typed->metadata.resourceVersion = scale.metadata.resourceVersion;
  };
  set(object->As<apps::v1::Deployment>());
  set(object->As<apps::v1::ReplicaSet>());
  set(object->As<apps::v1::StatefulSet>());
  set(object->As<ReplicationController>());
}

std::span<const Column> ScaleColumns() {
  // Unlike for other kinds, the name column has no format.
  static constexpr Column kColumns[] = {
      {.name = "Name", .type = "string"},
      {.name = "Desired", .type = "integer"},
      {.name = "Available", .type = "integer"},
      kAgeColumn,
  };
  return kColumns;
}

Cells ScaleRow(const Scale& scale, const Time& now) {
  return {scale.metadata.name, scale.spec.replicas, scale.status.replicas,
          Age(scale.metadata.creationTimestamp, now)};
}

}  // namespace cox::apiserver
