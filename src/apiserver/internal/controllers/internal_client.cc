// SPDX-License-Identifier: Apache-2.0
#include "apiserver/internal/controllers/internal_client.h"

#include "apiserver/admission/admission.h"
#include "apiserver/registry/served/field_managers.h"
#include "apiserver/request/now.h"
#include "object/codec/json/json.h"
#include "object/defaults.h"

namespace cox::apiserver {
namespace {

const UserInfo& Self() {
  static const UserInfo user{
      .name = "system:apiserver", .uid = {}, .groups = {std::string(kMastersGroup)}, .extra = {}};
  return user;
}

AdmissionRequest RequestOf(const ServedResource& resource, std::string_view subresource,
                           const Object& object, const Object* old) {
  const meta::v1::ObjectMeta& meta = *object.object_meta();
  return {.operation = old == nullptr ? Operation::kCreate : Operation::kUpdate,
          .resource = resource,
          .subresource = std::string(subresource),
          .ns = meta.namespace_,
          .name = meta.name,
          .user = Self(),
          .object = &object,
          .old = old};
}

}  // namespace

Status InternalClient::Admit(Context& ctx, const ServedResource& resource,
                             std::string_view subresource, Object& object,
                             const Object* old) const {
  if (admission_ == nullptr) return {};
  return admission_->Mutate(ctx, RequestOf(resource, subresource, object, old), object);
}

ValidateFunc InternalClient::ValidatingAdmission(Context& ctx, const ServedResource& resource,
                                                 std::string_view subresource) const {
  if (admission_ == nullptr) return nullptr;
  return [this, &ctx, &resource, subresource](const Object& object, const Object* old) {
    return admission_->Validate(ctx, RequestOf(resource, subresource, object, old));
  };
}

Status InternalClient::Create(Context& ctx, const ServedResource& resource, Object object,
                              std::string_view manager) const {
  const Time now = NowOf(ctx);
  const WriteContext w{ctx, Self(), now};
  ApplyDefaults(object.type(), object.data());
  resource.SetDefaults(object);
  TrackManagers(resource, "", nullptr, object, manager, now);
  COX_RETURN_IF_ERROR(Admit(ctx, resource, "", object, nullptr));
  return resource.store()
      .Create(w, std::move(object), ValidatingAdmission(ctx, resource, ""))
      .status();
}

Status InternalClient::Ensure(Context& ctx, Object object, std::string_view manager,
                              const MutateFunc& mutate) const {
  const ServedResource& resource = registry_.Hub(*Scheme::Builtin().FindKind(object.gvk()));
  const std::string ns = object.object_meta()->namespace_, name = object.object_meta()->name;
  Result<Object> found = resource.store().Get(ctx, ns, name, /*from_cache=*/true);
  if (!found.ok()) {
    if (!found.status().Is(Reason::kNotFound)) return found.status();
    Status created = Create(ctx, resource, std::move(object), manager);
    // Another server may have created the same object concurrently.
    return created.Is(Reason::kAlreadyExists) ? Status() : created;
  }
  if (mutate == nullptr || !mutate(*found)) return {};
  return Change(ctx, resource, ns, name, manager, mutate, {});
}

Status InternalClient::Update(Context& ctx, const KindInfo& kind, std::string_view name,
                              std::string_view manager, const MutateFunc& mutate,
                              std::string_view subresource) const {
  Status status = Change(ctx, registry_.Hub(kind), {}, name, manager, mutate, subresource);
  return status.Is(Reason::kNotFound) ? Status() : status;
}

Status InternalClient::Change(Context& ctx, const ServedResource& resource, std::string_view ns,
                              std::string_view name, std::string_view manager,
                              const MutateFunc& mutate, std::string_view subresource) const {
  const Time now = NowOf(ctx);
  return resource.store()
      .Update(WriteContext{ctx, Self(), now},
              {.ns = std::string(ns),
               .name = std::string(name),
               .how = subresource.empty() ? nullptr : resource.strategy().Subresource(subresource),
               .change = [&](const Object* existing) -> Result<Object> {
                 Object after = *existing;
                 if (!mutate(after)) return after;
                 TrackManagers(resource, subresource, existing, after, manager, now);
                 COX_RETURN_IF_ERROR(Admit(ctx, resource, subresource, after, existing));
                 return after;
               },
               .validate = ValidatingAdmission(ctx, resource, subresource)})
      .status();
}

Status InternalClient::ApplyStatus(Context& ctx, const KindInfo& kind, const Value& configuration,
                                   std::string_view manager) const {
  const ServedResource& resource = registry_.Hub(kind);
  const Time now = NowOf(ctx);
  const apply::FieldManager& fields = resource.field_manager("status");
  const Value* name = configuration.At({"metadata", "name"});
  const Value* ns = configuration.At({"metadata", "namespace"});
  return resource.store()
      .Update(WriteContext{ctx, Self(), now},
              {.ns = ns == nullptr ? std::string() : std::string(ns->as_string()),
               .name = std::string(name->as_string()),
               .how = resource.strategy().Subresource("status"),
               .change = [&](const Object* existing) -> Result<Object> {
                 COX_ASSIGN_OR_RETURN(Value merged,
                                      fields.Apply(fields.Named(existing->ToValue()), configuration,
                                                   manager, /*force=*/true, now.ToString()));
                 Object after(resource.kind());
                 COX_RETURN_IF_ERROR(json::FromValue(merged, after.type(), after.data()));
                 COX_RETURN_IF_ERROR(Admit(ctx, resource, "status", after, existing));
                 return after;
               },
               .validate = ValidatingAdmission(ctx, resource, "status")})
      .status();
}

}  // namespace cox::apiserver
