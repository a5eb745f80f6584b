// SPDX-License-Identifier: Apache-2.0
#include "object/patch/patch.h"
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/patched_text.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/served/field_managers.h"
#include "base/strings.h"
#include "object/apply/managed_fields.h"
#include "object/codec/yaml/yaml.h"
#include "object/defaults.h"

namespace cox::apiserver {
namespace {

// Decodes the patched document. Errors: Invalid, with the document in the message, if it does not
// match its type.
Result<Object> ToObject(const ServedResource& resource, const Object& original,
                        const Value& patched, json::Strictness* strict) {
  auto refuse = [&](std::string_view why) {
    FieldErrorList errors = {
        FieldError::Invalid(FieldPath("patch"), PatchedText(original, patched), std::string(why))};
    return NewInvalid("", "", "", errors);
  };
  auto text = [&](std::string_view key) {
    const Value* member = patched.Find(key);
    return member != nullptr && member->is_string() ? std::string(member->as_string())
                                                    : std::string();
  };
  COX_ASSIGN_OR_RETURN(GroupVersionKind gvk,
                       GroupVersionKind::Parse(text("apiVersion"), text("kind")));
  if (gvk.kind.empty()) gvk = resource.gvk();
  const KindInfo* named = resource.strategy().scheme().FindKind(gvk);
  if (named == nullptr) return refuse(NotRegisteredText(gvk));
  Object object(*named);
  Status decoded = json::FromValue(patched, *named->type, object.data(), strict);
  if (!decoded.ok()) return refuse(decoded.message());
  if (named->type != resource.kind().type) {
    return Status::BadRequest(gvk.kind + " in version " + Quote(gvk.group_version().ToString()) +
                              " cannot be handled as a " + std::string(resource.kind().kind));
  }
  return object;
}

// One PATCH request and the state that is shared by its retries.
class Patcher {
 public:
  Patcher(Call& call, const ServedResource& resource, const AdmissionChain& admission,
          patch::PatchType type, const WriteOptions& options, const Time& now)
      : call_(call),
        resource_(resource),
        admission_(admission),
        type_(type),
        options_(options),
        manager_(ManagerName(call, options_)),
        now_(now) {}

  // Reads the applied configuration of a server-side apply. Errors: BadRequest with upstream's
  // texts.
  Status ReadConfiguration() {
    COX_ASSIGN_OR_RETURN(configuration_,
                         apiserver::ReadConfiguration(call_, options_, resource_.kind()));
    return {};
  }

  // Computes the new hub object from `existing`.
  Result<Object> Change(const Object* existing) {
    COX_ASSIGN_OR_RETURN(
        Object served, type_ == patch::PatchType::kApply ? Applied(existing) : Patched(*existing));
    COX_RETURN_IF_ERROR(MatchMetadata(call_, resource_, *served.object_meta(), /*creating=*/false));
    ApplyDefaults(served.type(), served.data());
    resource_.SetDefaults(served);
    // Server-side apply has already updated the managed fields.
    if (type_ != patch::PatchType::kApply) {
      const Object live = resource_.FromHub(*existing);
      TrackManagers(resource_, call_.info.subresource, &live, served, manager_, now_);
      if (forgets_managers_) served.object_meta()->managedFields.clear();
    }
    Object hub = resource_.ToHub(std::move(served));
    COX_RETURN_IF_ERROR(Admit(admission_, call_, resource_, options_.dry_run, hub, existing));
    return hub;
  }

 private:
  Result<Object> Patched(const Object& existing) {
    const Object live = resource_.FromHub(existing);
    json::Strictness strict;
    json::Strictness* collect =
        options_.field_validation == FieldValidation::kIgnore ? nullptr : &strict;
    COX_ASSIGN_OR_RETURN(std::string_view body, ReadBody(call_));
    COX_ASSIGN_OR_RETURN(Value patched,
                         patch::Apply(type_, live.ToValue(), body, live.type(), collect));
    // Distinguish strict errors of the JSON patch operations from those of the resulting object.
    if (type_ == patch::PatchType::kJson) {
      for (std::string& error : strict.errors) error.insert(0, "json patch ");
    }
    forgets_managers_ = apply::IsReset(patched);
    COX_ASSIGN_OR_RETURN(Object served, ToObject(resource_, live, patched, collect));
    COX_RETURN_IF_ERROR(
        ReportStrictErrors(call_, strict, options_.field_validation, resource_.kind()));
    return served;
  }

  Result<Object> Applied(const Object* existing) {
    const apply::FieldManager& fields = resource_.field_manager(call_.info.subresource);
    const Value* uid = configuration_.At({"metadata", "uid"});
    if (existing == nullptr && uid != nullptr && uid->is_string() && !uid->as_string().empty()) {
      return ConflictError(resource_.resource(), call_.info.name,
                           "uid mismatch: the provided object specified uid " +
                               std::string(uid->as_string()) +
                               ", and no existing object was found");
    }
    const Value live = existing != nullptr ? resource_.FromHub(*existing).ToValue()
                                           : Object(resource_.kind()).ToValue();
    COX_ASSIGN_OR_RETURN(Value merged, fields.Apply(fields.Named(live), configuration_, manager_,
                                                    options_.force, now_.ToString()));
    Object served(resource_.kind());
    json::Strictness strict;
    COX_RETURN_IF_ERROR(json::FromValue(merged, served.type(), served.data(), &strict));
    return served;
  }

  Call& call_;
  const ServedResource& resource_;
  const AdmissionChain& admission_;
  const patch::PatchType type_;
  const WriteOptions& options_;
  const std::string manager_;
  const Time now_;
  Value configuration_;
  // The patch sets managedFields to an empty list, which resets them.
  bool forgets_managers_ = false;
};

}  // namespace

Status ResourceHandlers::Patch(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const patch::PatchType type, ReadPatchType(call));
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_RETURN_IF_ERROR(ReadBody(call).status());
  const bool apply = type == patch::PatchType::kApply;
  COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "PatchOptions", apply));

  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  Patcher patcher(call, resource, admission_, type, options, w.now);
  if (apply) COX_RETURN_IF_ERROR(patcher.ReadConfiguration());
  return Write(
      call, resource, w, accepted, [&](const Object* existing) { return patcher.Change(existing); },
      /*uid=*/"",
      /*may_create=*/apply && call.info.subresource.empty());
}

}  // namespace cox::apiserver
