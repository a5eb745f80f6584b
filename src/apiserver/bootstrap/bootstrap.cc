// SPDX-License-Identifier: Apache-2.0
#include "apiserver/bootstrap/bootstrap.h"

#include "api/core/v1.h"
#include "api/scheduling/v1.h"
#include "apiserver/handlers/resource_handlers.h"
#include "apiserver/handlers/respond.h"
#include "object/defaults.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kManager = "kube-apiserver";
constexpr std::string_view kNamespaces[] = {"default", "kube-system", "kube-public",
                                            "kube-node-lease"};

struct SystemPriority {
  std::string_view name;
  int32_t value;
  std::string_view description;
};
// Above everything users may ask for.
constexpr SystemPriority kSystemPriorities[] = {
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their current node."},
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node "
     "if necessary."},
};

// Creates `object` unless something of its name is there.
Status Ensure(Context& ctx, const Registry& registry, Object object) {
  const KindInfo* kind = Scheme::Builtin().FindKind(object.gvk());
  const ServedResource& resource = registry.Hub(*kind);
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  Result<storage::KeyValue> found = resource.store().GetStored(ctx, meta.namespace_, meta.name);
  if (found.ok()) return {};
  if (!found.status().Is(Reason::kNotFound)) return found.status();
  const UserInfo user{
      .name = "system:apiserver", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
  const Time now = NowOf(ctx);
  const WriteContext w{ctx, user, now};
  ApplyDefaults(object.type(), object.data());
  resource.SetDefaults(object);
  TrackManagers(resource, "", nullptr, object, kManager, now);
  Result<Object> created = resource.store().Create(w, std::move(object), nullptr);
  // Another server may have been faster.
  if (!created.ok() && !created.status().Is(Reason::kAlreadyExists)) return created.status();
  return {};
}

}  // namespace

Status WriteBootstrapObjects(Context& ctx, const Registry& registry, const BootstrapOptions&) {
  for (std::string_view name : kNamespaces) {
    core::v1::Namespace ns;
    ns.metadata.name = name;
    COX_RETURN_IF_ERROR(Ensure(ctx, registry, Object::Of(std::move(ns))));
  }
  for (const SystemPriority& priority : kSystemPriorities) {
    scheduling::v1::PriorityClass object;
    object.metadata.name = priority.name;
    object.value = priority.value;
    object.description = priority.description;
    COX_RETURN_IF_ERROR(Ensure(ctx, registry, Object::Of(std::move(object))));
  }
  return {};
}

}  // namespace cox::apiserver
