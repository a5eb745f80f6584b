// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/scale/scale.h"

#include "api/autoscaling/v1.h"
#include "apiserver/handlers/body.h"
#include "apiserver/handlers/respond.h"
#include "apiserver/handlers/subresources/subresources.h"
#include "object/patch/patch.h"

// The scale of workloads: their number of replicas, as an autoscaling/v1 Scale.
namespace cox::apiserver {
namespace {

using autoscaling::v1::Scale;

void RespondScale(Call& call, const Object& workload, const Accepted& accepted) {
  RespondPlain(call, 200, Object::Of(ToScale(workload)), accepted);
}

// The scale a request makes of the present one: replaced or patched.
using NextScale = std::function<Result<Scale>(const Scale& now)>;

Status Write(ResourceHandlers& handlers, Call& call, const ServedResource& resource,
             const WriteOptions& options, const Accepted& accepted, const NextScale& next) {
  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  const std::string manager = ManagerName(call, options);
  ResourceStore::UpdateRequest request{
      .ns = call.info.namespace_,
      .name = call.info.name,
      .change = [&](const Object* existing) -> Result<Object> {
        const Scale present = ToScale(*existing);
        COX_ASSIGN_OR_RETURN(Scale scale, next(present));
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
        TrackManagers(resource, "scale", existing, changed, manager, w.now);
        return changed;
      },
      .judge = JudgeOf(handlers.admission(), call, resource, Operation::kUpdate, options.dry_run),
      .create_judge = {}};
  COX_ASSIGN_OR_RETURN(const ResourceStore::UpdateResult result,
                       resource.store().Update(w, request));
  RespondScale(call, result.object, accepted);
  return {};
}

}  // namespace

Status HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  if (call.info.verb == "get") {
    COX_ASSIGN_OR_RETURN(const Object found,
                         resource.store().Get(call.ctx(), call.info.namespace_, call.info.name));
    RespondScale(call, found, accepted);
    return {};
  }
  if (call.info.verb == "update") {
    COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "UpdateOptions"));
    COX_ASSIGN_OR_RETURN(Object body, DecodeBody(call, Scale::kKind, options.field_validation));
    Scale& scale = *body.As<Scale>();
    COX_RETURN_IF_ERROR(MatchMetadata(call, resource, scale.metadata, /*creating=*/false));
    return Write(handlers, call, resource, options, accepted,
                 [&](const Scale&) -> Result<Scale> { return scale; });
  }
  COX_ASSIGN_OR_RETURN(const patch::PatchType type, ReadPatchType(call));
  COX_ASSIGN_OR_RETURN(const WriteOptions options,
                       ParseWriteOptions(call, "PatchOptions", type == patch::PatchType::kApply));
  // Field paths of a Scale are not those of the workload: their mapping is not built yet.
  if (type == patch::PatchType::kApply) return UnsupportedPatchError();
  return Write(
      handlers, call, resource, options, accepted, [&](const Scale& present) -> Result<Scale> {
        json::Strictness strict;
        COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
        COX_ASSIGN_OR_RETURN(Scale patched, patch::ApplyTo(type, present, body, &strict));
        COX_RETURN_IF_ERROR(JudgeStrictness(call, strict, options.field_validation, Scale::kKind));
        COX_RETURN_IF_ERROR(MatchMetadata(call, resource, patched.metadata, /*creating=*/false));
        return patched;
      });
}

}  // namespace cox::apiserver
