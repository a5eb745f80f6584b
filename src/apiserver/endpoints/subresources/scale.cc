// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/scale/scale.h"

#include "api/autoscaling/v1.h"
#include "apiserver/endpoints/subresources/subresources.h"
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/kinds/scale/scale_managers.h"
#include "object/apply/managed_fields.h"
#include "object/patch/patch.h"
#include "object/type/kind_names.h"

// The scale subresource of workloads: the number of replicas as an autoscaling/v1 Scale.
namespace cox::apiserver {
namespace {

using autoscaling::v1::Scale;

Status RespondScale(Call& call, const Object& workload, const Accepted& accepted) {
  const Scale scale = ToScale(workload);
  if (accepted.transform != Transform::kTable) {
    RespondPlain(call, 200, Object::Of(scale), accepted);
    return {};
  }
  const TableRow row{Object::Of(scale), ScaleRow(scale, NowOf(call.ctx()))};
  return RespondTable(call, ScaleColumns(), {&row, 1}, scale.metadata.resourceVersion, accepted);
}

const apply::FieldManager& ScaleFields() {
  static const apply::FieldManager manager(
      Scale::kType, {.api_version = "autoscaling/v1", .kind = "Scale", .subresource = "scale"});
  return manager;
}

// The managed fields of a workload, read from its metadata only.
Result<apply::Managers> OwnersOf(const Object& workload) {
  return apply::ManagersOf(
      Value::MakeObject({{"metadata", json::ToValue(*workload.object_meta())}}));
}

// Computes the new Scale (by update, patch or apply) from the current one and its managed fields.
using NextScale = std::function<Result<Value>(const Value& live, const Scale& present)>;

Status Write(ResourceHandlers& handlers, Call& call, const ServedResource& resource,
             const WriteOptions& options, const Accepted& accepted, const NextScale& next) {
  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  ResourceStore::UpdateRequest request{
      .ns = call.info.namespace_,
      .name = call.info.name,
      .change = [&](const Object* existing) -> Result<Object> {
        const Scale present = ToScale(*existing);
        const std::string version = ApiVersionOf(resource.kind());
        COX_ASSIGN_OR_RETURN(const apply::Managers owners, OwnersOf(*existing));
        Value live = ScaleFields().Named(json::ToValue(present));
        apply::SetManagers(ToScaleManagers(owners, version), &live);
        COX_ASSIGN_OR_RETURN(const Value after, next(live, present));
        COX_ASSIGN_OR_RETURN(Scale wanted, json::FromValue<Scale>(after));
        Object asked = Object::Of(std::move(wanted));
        const Object before = Object::Of(present);
        COX_RETURN_IF_ERROR(AdmitSubresource(handlers.admission(), call,
                                             {.resource = resource,
                                              .subresource = "scale",
                                              .operation = Operation::kUpdate,
                                              .dry_run = options.dry_run,
                                              .old = &before},
                                             asked));
        const Scale& scale = *asked.As<Scale>();
        if (!scale.metadata.uid.empty() && scale.metadata.uid != present.metadata.uid) {
          return ConflictError(
              resource.resource(), call.info.name,
              "StorageError: invalid object, Code: 4, Key: " +
                  resource.store().Key(call.info.namespace_, call.info.name) +
                  ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                  "precondition: " +
                  scale.metadata.uid + ", UID in object meta: " + present.metadata.uid);
        }
        FieldErrorList errors = ValidateScale(scale);
        if (!errors.empty()) {
          return NewInvalid("autoscaling", "Scale", scale.metadata.name, errors);
        }
        Object changed = *existing;
        FromScale(scale, &changed);
        COX_ASSIGN_OR_RETURN(const apply::Managers scale_owners, apply::ManagersOf(after));
        changed.object_meta()->managedFields =
            apply::ManagedFieldsEntries(FromScaleManagers(owners, scale_owners, version));
        return changed;
      },
      .validate = {},
      .validate_create = {}};
  COX_ASSIGN_OR_RETURN(const ResourceStore::UpdateResult result,
                       resource.store().Update(w, request));
  return RespondScale(call, result.object, accepted);
}

// The Scale after an update by `manager`, with its managed fields.
Result<Value> Tracked(const Value& live, const Scale& after, const std::string& manager,
                      const Time& now) {
  return ScaleFields().Update(live, ScaleFields().Named(json::ToValue(after)), manager,
                              now.ToString());
}

}  // namespace

Status HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  if (call.info.verb == "get") {
    COX_ASSIGN_OR_RETURN(const Object found,
                         resource.store().Get(call.ctx(), call.info.namespace_, call.info.name));
    return RespondScale(call, found, accepted);
  }
  const Time now = NowOf(call.ctx());
  if (call.info.verb == "update") {
    COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "UpdateOptions"));
    COX_ASSIGN_OR_RETURN(Object body, DecodeBody(call, Scale::kKind, options.field_validation));
    Scale& scale = *body.As<Scale>();
    COX_RETURN_IF_ERROR(MatchMetadata(call, resource, scale.metadata, /*creating=*/false));
    return Write(handlers, call, resource, options, accepted, [&](const Value& live, const Scale&) {
      return Tracked(live, scale, ManagerName(call, options), now);
    });
  }
  COX_ASSIGN_OR_RETURN(const patch::PatchType type, ReadPatchType(call));
  COX_ASSIGN_OR_RETURN(const WriteOptions options,
                       ParseWriteOptions(call, "PatchOptions", type == patch::PatchType::kApply));
  if (type == patch::PatchType::kApply) {
    COX_ASSIGN_OR_RETURN(const Value configuration, ReadConfiguration(call, options, Scale::kKind));
    return Write(handlers, call, resource, options, accepted, [&](const Value& live, const Scale&) {
      return ScaleFields().Apply(live, configuration, ManagerName(call, options), options.force,
                                 now.ToString());
    });
  }
  return Write(
      handlers, call, resource, options, accepted,
      [&](const Value& live, const Scale& present) -> Result<Value> {
        json::Strictness strict;
        COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
        COX_ASSIGN_OR_RETURN(Scale patched, patch::ApplyTo(type, present, body, &strict));
        COX_RETURN_IF_ERROR(
            ReportStrictErrors(call, strict, options.field_validation, Scale::kKind));
        COX_RETURN_IF_ERROR(MatchMetadata(call, resource, patched.metadata, /*creating=*/false));
        return Tracked(live, patched, ManagerName(call, options), now);
      });
}

}  // namespace cox::apiserver
