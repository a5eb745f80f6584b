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

void Write(ResourceHandlers& handlers, Call& call, const ServedResource& resource,
           const WriteOptions& options, const Accepted& accepted, const NextScale& next) {
  const Time now = NowOf(call.ctx());
  const WriteContext w{call.ctx(), call.user, now, options.dry_run, &resource.kind()};
  const std::string manager = ManagerName(call, options);
  Result<ResourceStore::UpdateResult> result = resource.store().Update(
      w,
      {.ns = call.info.namespace_,
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
         TrackManagers(resource, "scale", existing, changed, manager, now);
         return changed;
       },
       .judge = JudgeOf(handlers.admission(), call, resource, Operation::kUpdate, options.dry_run),
       .create_judge = {}});
  if (!result.ok()) return call.RespondStatus(result.status());
  RespondScale(call, result->object, accepted);
}

Status MatchName(const Call& call, const Scale& scale) {
  if (scale.metadata.name.empty()) {
    return Status::BadRequest("the name of the object (" + call.info.name +
                              " based on URL) was undeterminable: name must be provided");
  }
  if (scale.metadata.name != call.info.name) {
    return Status::BadRequest("the name of the object (" + scale.metadata.name +
                              ") does not match the name on the URL (" + call.info.name + ")");
  }
  if (!scale.metadata.namespace_.empty() && scale.metadata.namespace_ != call.info.namespace_) {
    return Status::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

}  // namespace

void HandleScale(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  Result<Accepted> accepted = NegotiateResource(call.Header("accept"), /*streaming=*/false);
  if (!accepted.ok()) return call.RespondStatus(accepted.status());
  if (call.info.verb == "get") {
    Result<Object> found = resource.store().Get(call.ctx(), call.info.namespace_, call.info.name);
    if (!found.ok()) return call.RespondStatus(found.status());
    return RespondScale(call, *found, *accepted);
  }
  const bool patch = call.info.verb == "patch";
  const std::optional<patch::PatchType> type =
      patch::PatchTypeOf(call.Header("content-type").value_or(""));
  if (patch && !type) {
    return call.RespondStatus(Status(Reason::kUnsupportedMediaType, "415: Unsupported Media Type"));
  }
  Result<WriteOptions> options = ParseWriteOptions(call, patch ? "PatchOptions" : "UpdateOptions",
                                                   patch && *type == patch::PatchType::kApply);
  if (!options.ok()) return call.RespondStatus(options.status());
  if (!patch) {
    Result<Object> body = DecodeBody(call, Scale::kKind, options->field_validation);
    if (!body.ok()) return call.RespondStatus(body.status());
    const Scale scale = *body->As<Scale>();
    Status matches = MatchName(call, scale);
    if (!matches.ok()) return call.RespondStatus(matches);
    return Write(handlers, call, resource, *options, *accepted,
                 [&](const Scale&) -> Result<Scale> { return scale; });
  }
  if (*type == patch::PatchType::kApply) {
    // Field paths of a Scale are not those of the workload: their mapping is not built yet.
    return call.RespondStatus(Status(Reason::kUnsupportedMediaType, "415: Unsupported Media Type"));
  }
  Write(handlers, call, resource, *options, *accepted, [&](const Scale& present) -> Result<Scale> {
    json::Strictness strict;
    COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call));
    COX_ASSIGN_OR_RETURN(Scale patched, patch::ApplyTo(*type, present, body, &strict));
    COX_RETURN_IF_ERROR(JudgeStrictness(call, strict, options->field_validation, Scale::kKind));
    COX_RETURN_IF_ERROR(MatchName(call, patched));
    return patched;
  });
}

}  // namespace cox::apiserver
