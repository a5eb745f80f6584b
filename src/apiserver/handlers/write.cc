// SPDX-License-Identifier: Apache-2.0
#include "apiserver/handlers/body.h"
#include "apiserver/handlers/resource_handlers.h"
#include "apiserver/handlers/respond.h"
#include "object/defaults.h"
#include "object/json/json.h"

namespace cox::apiserver {

Status MatchMetadata(const Call& call, const ServedResource& resource, Object& object,
                     bool creating) {
  meta::v1::ObjectMeta& meta = *object.object_meta();
  const RequestInfo& info = call.info;
  if (!creating) {
    if (meta.name.empty()) {
      return Status::BadRequest("the name of the object (" + info.name +
                                " based on URL) was undeterminable: name must be provided");
    }
    if (meta.name != info.name) {
      return Status::BadRequest("the name of the object (" + meta.name +
                                ") does not match the name on the URL (" + info.name + ")");
    }
  }
  if (!resource.kind().namespaced) return {};
  if (meta.namespace_.empty()) {
    meta.namespace_ = info.namespace_;
  } else if (meta.namespace_ != info.namespace_) {
    return Status::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

Judge JudgeOf(const AdmissionChain& admission, Call& call, const ServedResource& resource,
              Operation operation, bool dry_run) {
  return
      [&admission, &call, &resource, operation, dry_run](const Object& object, const Object* old) {
        Object* mutable_object = nullptr;
        if (operation != Operation::kDelete) mutable_object = const_cast<Object*>(&object);
        Warnings warnings;
        const AdmissionRequest request{.operation = operation,
                                       .resource = resource,
                                       .subresource = call.info.subresource,
                                       .ns = call.info.namespace_,
                                       .name = object.object_meta()->name,
                                       .user = call.user,
                                       .dry_run = dry_run,
                                       .object = mutable_object,
                                       .old = old,
                                       .warnings = &warnings};
        Status status = admission.Validate(call.ctx(), request);
        for (std::string& text : warnings) call.Warn(std::move(text));
        return status;
      };
}

void TrackManagers(const apply::FieldManager& fields, Value live, Object& served,
                   std::string_view manager, const Time& now) {
  Result<Value> tracked =
      fields.Update(fields.Named(std::move(live)), served.ToValue(), manager, now.ToString());
  meta::v1::ObjectMeta& meta = *served.object_meta();
  meta.managedFields.clear();
  if (!tracked.ok()) return;  // a write must not fail because its owners cannot be told
  const Value* entries = tracked->At({"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return;
  for (const Value& entry : entries->as_array()) {
    Result<meta::v1::ManagedFieldsEntry> typed =
        json::FromValue<meta::v1::ManagedFieldsEntry>(entry);
    if (typed.ok()) meta.managedFields.push_back(std::move(*typed));
  }
}

void TrackManagers(const ServedResource& resource, std::string_view subresource,
                   const Object* live_served, Object& served, std::string_view manager,
                   const Time& now) {
  // What was not there before was an empty object: its structs are nobody's doing.
  Value live = live_served != nullptr ? live_served->ToValue() : Object(resource.kind()).ToValue();
  TrackManagers(resource.field_manager(subresource), std::move(live), served, manager, now);
}

void ResourceHandlers::Create(Call& call, const ServedResource& resource) {
  Result<Accepted> accepted = NegotiateResource(call.Header("accept"), /*streaming=*/false);
  if (!accepted.ok()) return call.RespondStatus(accepted.status());
  Result<WriteOptions> options = ParseWriteOptions(call, "CreateOptions");
  if (!options.ok()) return call.RespondStatus(options.status());
  Result<Object> served = DecodeBody(call, resource.kind(), options->field_validation);
  if (!served.ok()) return call.RespondStatus(served.status());

  auto create = [&]() -> Result<Object> {
    COX_RETURN_IF_ERROR(MatchMetadata(call, resource, *served, /*creating=*/true));
    if (!served->object_meta()->resourceVersion.empty()) {
      return Status(Reason::kUnknown, "resourceVersion should not be set on objects to be created");
    }
    ApplyDefaults(served->type(), served->data());
    resource.SetDefaults(*served);
    const Time now = NowOf(call.ctx());
    // Owners are told before admission: what that adds belongs to nobody.
    TrackManagers(resource, "", nullptr, *served, ManagerName(call, *options), now);
    Object hub = resource.ToHub(*served);
    Warnings warnings;
    COX_RETURN_IF_ERROR(admission_.Mutate(call.ctx(), {.operation = Operation::kCreate,
                                                       .resource = resource,
                                                       .ns = call.info.namespace_,
                                                       .name = served->object_meta()->name,
                                                       .user = call.user,
                                                       .dry_run = options->dry_run,
                                                       .object = &hub,
                                                       .warnings = &warnings}));
    const WriteContext w{call.ctx(), call.user, now, options->dry_run, &resource.kind()};
    Result<Object> created = resource.store().Create(
        w, std::move(hub),
        JudgeOf(admission_, call, resource, Operation::kCreate, options->dry_run), &warnings);
    if (created.ok()) {
      for (std::string& text : warnings) call.Warn(std::move(text));
    }
    return created;
  };
  Result<Object> created = create();
  if (!created.ok()) return call.RespondStatus(created.status());
  RespondObject(call, resource, 201, *created, *accepted);
}

void ResourceHandlers::Update(Call& call, const ServedResource& resource) {
  Result<Accepted> accepted = NegotiateResource(call.Header("accept"), /*streaming=*/false);
  if (!accepted.ok()) return call.RespondStatus(accepted.status());
  Result<WriteOptions> options = ParseWriteOptions(call, "UpdateOptions");
  if (!options.ok()) return call.RespondStatus(options.status());
  Result<Object> served = DecodeBody(call, resource.kind(), options->field_validation);
  if (!served.ok()) return call.RespondStatus(served.status());
  Status matches = MatchMetadata(call, resource, *served, /*creating=*/false);
  if (!matches.ok()) return call.RespondStatus(matches);
  ApplyDefaults(served->type(), served->data());
  resource.SetDefaults(*served);

  const Time now = NowOf(call.ctx());
  const std::string manager = ManagerName(call, *options);
  const std::string& subresource = call.info.subresource;
  Warnings warnings;
  const WriteContext w{call.ctx(), call.user, now, options->dry_run, &resource.kind()};
  ResourceStore::UpdateRequest request{
      .ns = call.info.namespace_,
      .name = call.info.name,
      .how = subresource.empty() ? nullptr : resource.strategy().Subresource(subresource),
      .change = [&](const Object* existing) -> Result<Object> {
        Object copy = *served;
        std::optional<Object> live;
        if (existing != nullptr) live = resource.FromHub(*existing);
        TrackManagers(resource, subresource, live ? &*live : nullptr, copy, manager, now);
        Object hub = resource.ToHub(copy);
        COX_RETURN_IF_ERROR(admission_.Mutate(
            call.ctx(), {.operation = existing == nullptr ? Operation::kCreate : Operation::kUpdate,
                         .resource = resource,
                         .subresource = subresource,
                         .ns = call.info.namespace_,
                         .name = call.info.name,
                         .user = call.user,
                         .dry_run = options->dry_run,
                         .object = &hub,
                         .old = existing,
                         .warnings = &warnings}));
        return hub;
      },
      .judge = JudgeOf(admission_, call, resource, Operation::kUpdate, options->dry_run),
      .create_judge = JudgeOf(admission_, call, resource, Operation::kCreate, options->dry_run),
      .uid = served->object_meta()->uid,
      .may_create = subresource.empty() && resource.strategy().AllowCreateOnUpdate(),
      .warnings = &warnings};
  Result<ResourceStore::UpdateResult> result = resource.store().Update(w, request);
  if (!result.ok()) return call.RespondStatus(result.status());
  for (std::string& text : warnings) call.Warn(std::move(text));
  RespondObject(call, resource, result->created ? 201 : 200, result->object, *accepted);
}

}  // namespace cox::apiserver
