// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/resource_handlers.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "apiserver/registry/served/field_managers.h"
#include "object/apply/managed_fields.h"
#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/defaults.h"

namespace cox::apiserver {

Status MatchMetadata(const Call& call, const ServedResource& resource, meta::v1::ObjectMeta& meta,
                     bool creating) {
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

WriteContext WriteContextOf(Call& call, const ServedResource& resource, bool dry_run) {
  return {call.ctx(), call.user, NowOf(call.ctx()), dry_run, &resource.kind()};
}

namespace {

// The options of a write for webhooks. A patch has the options of the resulting create or update.
Value OptionsOf(const Call& call, const ServedResource& resource, Operation operation) {
  Value options = Value::MakeObject();
  if (operation == Operation::kDelete) {
    const Result<meta::v1::DeleteOptions> given =
        ParseDeleteOptions(call, resource.strategy().scheme());
    if (given.ok()) options = json::ToValue(*given);
  } else if (operation != Operation::kConnect) {
    const Query& query = call.query;
    for (const std::string_view name : {"fieldManager", "fieldValidation"}) {
      if (!query.Get(name).empty()) options.as_object()[name] = query.Get(name);
    }
    if (query.Has("dryRun")) options.as_object()["dryRun"] = Value::MakeArray({"All"});
  }
  const char* const kind = operation == Operation::kDelete   ? "DeleteOptions"
                           : operation == Operation::kUpdate ? "UpdateOptions"
                                                             : "CreateOptions";
  options.as_object()["kind"] = kind;
  options.as_object()["apiVersion"] = "meta.k8s.io/v1";
  return options;
}

AdmissionRequest AdmissionRequestOf(const Call& call, const ServedResource& resource,
                                    Operation operation, bool dry_run, std::string name,
                                    const Object* old, Warnings* warnings,
                                    AuditAnnotations* annotations) {
  // The legacy /bindings path is equivalent to pods/binding, so the request is admitted as the
  // subresource.
  const bool of_pod = call.info.group.empty() && call.info.resource == "bindings";
  return {.operation = operation,
          .resource = resource,
          .subresource = of_pod ? "binding" : call.info.subresource,
          .ns = call.info.namespace_,
          .name = std::move(name),
          .user = call.user,
          .dry_run = dry_run,
          .old = old,
          .warnings = warnings,
          .audit = annotations,
          .options =
              operation == Operation::kConnect
                  ? std::function<Value()>()
                  : [&call, &resource, operation] { return OptionsOf(call, resource, operation); }};
}

// Adds the warnings and audit annotations of the plugins to the call.
void Note(Call& call, Warnings warnings, AuditAnnotations annotations) {
  call.Warn(std::move(warnings));
  if (call.audit() == nullptr) return;
  // For duplicate keys, the last annotation of the plugins wins, but Annotate keeps the first one.
  for (auto at = annotations.rbegin(); at != annotations.rend(); ++at) {
    call.audit()->Annotate(at->first, std::move(at->second));
  }
}

// Sets the request object of the audit event to the decoded and defaulted object.
void AuditDefaulted(const Call& call, const Object& served) {
  if (call.audit() != nullptr && call.audit()->records_request_body()) {
    call.audit()->SetRequest(served);
  }
}

}  // namespace

Status Admit(const AdmissionChain& admission, Call& call, const ServedResource& resource,
             bool dry_run, Object& hub, const Object* old) {
  Warnings warnings;
  AuditAnnotations annotations;
  Status status = admission.Mutate(
      call.ctx(),
      AdmissionRequestOf(call, resource, old == nullptr ? Operation::kCreate : Operation::kUpdate,
                         dry_run, hub.object_meta()->name, old, &warnings, &annotations),
      hub);
  Note(call, std::move(warnings), std::move(annotations));
  return status;
}

ValidateFunc ValidatingAdmission(const AdmissionChain& admission, Call& call,
                                 const ServedResource& resource, Operation operation,
                                 bool dry_run) {
  return
      [&admission, &call, &resource, operation, dry_run](const Object& object, const Object* old) {
        Warnings warnings;
        AuditAnnotations annotations;
        AdmissionRequest request =
            AdmissionRequestOf(call, resource, operation, dry_run, object.object_meta()->name, old,
                               &warnings, &annotations);
        if (operation != Operation::kDelete) request.object = &object;
        Status status = admission.Validate(call.ctx(), request);
        Note(call, std::move(warnings), std::move(annotations));
        return status;
      };
}

Status AdmitSubresource(const AdmissionChain& admission, Call& call, const SubresourceAdmission& of,
                        Object& asked) {
  Warnings warnings;
  AuditAnnotations annotations;
  AdmissionRequest request = AdmissionRequestOf(call, of.resource, of.operation, of.dry_run,
                                                call.info.name, of.old, &warnings, &annotations);
  request.subresource = of.subresource;
  if (request.name.empty() && asked.object_meta() != nullptr) {
    request.name = asked.object_meta()->name;
  }
  Status status = admission.Mutate(call.ctx(), request, asked);
  request.object = &asked;
  if (status.ok()) status = admission.Validate(call.ctx(), request);
  Note(call, std::move(warnings), std::move(annotations));
  return status;
}

namespace {

// Reports whether the body sets managedFields to an empty list, which resets them. The decoded
// struct does not distinguish this from a body without managedFields.
bool EmptiesManagedFields(const Call& call, const meta::v1::ObjectMeta& meta) {
  const std::string& body = call.request().body;
  if (!meta.managedFields.empty() || body.find("managedFields") == std::string::npos) return false;
  Result<Value> value = yaml::Parse(body);
  return value.ok() && apply::IsReset(*value);
}

// Clear server-managed metadata.
void DropServersFields(meta::v1::ObjectMeta& meta) {
  meta.uid.clear();
  meta.creationTimestamp = {};
  meta.deletionTimestamp.reset();
  meta.deletionGracePeriodSeconds.reset();
  meta.selfLink.clear();
}

}  // namespace

Status ResourceHandlers::Create(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "CreateOptions"));
  COX_ASSIGN_OR_RETURN(Object served, DecodeBody(call, resource, options.field_validation));
  COX_RETURN_IF_ERROR(MatchMetadata(call, resource, *served.object_meta(), /*creating=*/true));
  if (!served.object_meta()->resourceVersion.empty()) {
    return Status(Reason::kUnknown, "resourceVersion should not be set on objects to be created");
  }
  DropServersFields(*served.object_meta());
  ApplyDefaults(served.type(), served.data());
  resource.SetDefaults(served);
  AuditDefaulted(call, served);
  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  // Managed fields are computed before admission, so that fields set by admission have no owner.
  TrackManagers(resource, "", nullptr, served, ManagerName(call, options), w.now);
  Object hub = resource.ToHub(std::move(served));
  COX_RETURN_IF_ERROR(Admit(admission_, call, resource, options.dry_run, hub, nullptr));
  Warnings warnings;
  COX_ASSIGN_OR_RETURN(
      const Object created,
      resource.store().Create(
          w, std::move(hub),
          ValidatingAdmission(admission_, call, resource, Operation::kCreate, options.dry_run),
          &warnings));
  call.Warn(std::move(warnings));
  return RespondObject(call, resource, 201, created, accepted);
}

Status ResourceHandlers::Update(Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "UpdateOptions"));
  COX_ASSIGN_OR_RETURN(Object served, DecodeBody(call, resource, options.field_validation));
  COX_RETURN_IF_ERROR(MatchMetadata(call, resource, *served.object_meta(), /*creating=*/false));
  ApplyDefaults(served.type(), served.data());
  resource.SetDefaults(served);
  AuditDefaulted(call, served);

  const std::string manager = ManagerName(call, options);
  const bool forgets_managers = EmptiesManagedFields(call, *served.object_meta());
  const std::string& subresource = call.info.subresource;
  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  auto change = [&](const Object* existing) -> Result<Object> {
    Object copy = served;
    std::optional<Object> live;
    if (existing != nullptr) live = resource.FromHub(*existing);
    TrackManagers(resource, subresource, live ? &*live : nullptr, copy, manager, w.now);
    if (forgets_managers) copy.object_meta()->managedFields.clear();
    Object hub = resource.ToHub(std::move(copy));
    COX_RETURN_IF_ERROR(Admit(admission_, call, resource, options.dry_run, hub, existing));
    return hub;
  };
  return Write(call, resource, w, accepted, change, served.object_meta()->uid,
               /*may_create=*/subresource.empty() && resource.strategy().AllowCreateOnUpdate());
}

Status ResourceHandlers::Write(Call& call, const ServedResource& resource, const WriteContext& w,
                               const Accepted& accepted, ResourceStore::Change change,
                               std::string uid, bool may_create) {
  const std::string& subresource = call.info.subresource;
  Warnings warnings;
  const ResourceStore::UpdateRequest request{
      .ns = call.info.namespace_,
      .name = call.info.name,
      .how = subresource.empty() ? nullptr : resource.strategy().Subresource(subresource),
      .change = std::move(change),
      .validate = ValidatingAdmission(admission_, call, resource, Operation::kUpdate, w.dry_run),
      .validate_create =
          ValidatingAdmission(admission_, call, resource, Operation::kCreate, w.dry_run),
      .uid = std::move(uid),
      .may_create = may_create,
      .warnings = &warnings};
  COX_ASSIGN_OR_RETURN(const ResourceStore::UpdateResult result,
                       resource.store().Update(w, request));
  call.Warn(std::move(warnings));
  return RespondObject(call, resource, result.created ? 201 : 200, result.object, accepted);
}

}  // namespace cox::apiserver
