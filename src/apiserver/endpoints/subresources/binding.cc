// SPDX-License-Identifier: Apache-2.0
#include "api/core/v1.h"
#include "apiserver/endpoints/subresources/subresources.h"
#include "apiserver/endpoints/verbs/body.h"
#include "apiserver/endpoints/verbs/respond.h"
#include "base/strings.h"

// pods/binding: the scheduler assigns a Pod to a node.
namespace cox::apiserver {
namespace {

constexpr Resource kBinding{"", "pods/binding"};

// Errors without a reason, like upstream's.
Status Check(const core::v1::Binding& binding) {
  const FieldPath target("target");
  if (!binding.target.kind.empty() && binding.target.kind != "Node") {
    return Status(
        Reason::kUnknown,
        FieldError::NotSupported(target.Child("kind"), binding.target.kind, {"Node", "<empty>"})
            .ToString());
  }
  if (binding.target.name.empty()) {
    return Status(Reason::kUnknown, FieldError::Required(target.Child("name")).ToString());
  }
  return {};
}

Status Assign(const core::v1::Binding& binding, const Time& now, core::v1::Pod* pod) {
  const std::string& name = pod->metadata.name;
  if (pod->metadata.deletionTimestamp) {
    return ConflictError(kBinding, name,
                         "pod " + name + " is being deleted, cannot be assigned to a host");
  }
  if (!pod->spec.nodeName.empty()) {
    return ConflictError(
        kBinding, name,
        "pod " + name + " is already assigned to node " + Quote(pod->spec.nodeName));
  }
  if (!pod->spec.schedulingGates.empty()) {
    return ConflictError(kBinding, name, "pod " + name + " has non-empty .spec.schedulingGates");
  }
  pod->spec.nodeName = binding.target.name;
  // The nomination ends with the assignment, to this or another node.
  pod->status.nominatedNodeName.clear();
  for (const auto& [key, value] : binding.metadata.annotations)
    pod->metadata.annotations[key] = value;
  for (const auto& [key, value] : binding.metadata.labels) pod->metadata.labels[key] = value;
  for (core::v1::PodCondition& condition : pod->status.conditions) {
    if (condition.type != "PodScheduled") continue;
    if (condition.status != "True") condition.lastTransitionTime = now;
    condition.status = "True";
    condition.reason.clear();
    condition.message.clear();
    return {};
  }
  core::v1::PodCondition scheduled;
  scheduled.type = "PodScheduled";
  scheduled.status = "True";
  scheduled.lastTransitionTime = now;
  pod->status.conditions.push_back(std::move(scheduled));
  return {};
}

// The update changes only the fields set by Assign, so that no validation is needed.
class BindingStrategy final : public UpdateStrategyOf<core::v1::Pod> {
 protected:
  void PrepareUpdate(const WriteContext&, core::v1::Pod&, const core::v1::Pod&) const override {}
};

}  // namespace

Status HandleBinding(ResourceHandlers& handlers, Call& call, const ServedResource& resource) {
  COX_ASSIGN_OR_RETURN(const Accepted accepted, call.Negotiate());
  COX_ASSIGN_OR_RETURN(const WriteOptions options, ParseWriteOptions(call, "CreateOptions"));
  COX_ASSIGN_OR_RETURN(Object body,
                       DecodeBody(call, core::v1::Binding::kKind, options.field_validation));
  if (body.object_meta()->namespace_.empty()) {
    body.object_meta()->namespace_ = call.info.namespace_;
  }
  // The subresource is "binding" also for the legacy /bindings, whose path has no subresource.
  COX_RETURN_IF_ERROR(AdmitSubresource(handlers.admission(), call,
                                       {.resource = resource,
                                        .subresource = "binding",
                                        .operation = Operation::kCreate,
                                        .dry_run = options.dry_run},
                                       body));
  const auto& binding = *body.As<core::v1::Binding>();
  std::string name = call.info.name;
  if (name.empty()) name = binding.metadata.name;  // legacy /bindings
  if (binding.metadata.name != name) {
    return Status::BadRequest("name in URL does not match name in Binding object");
  }
  COX_RETURN_IF_ERROR(Check(binding));

  static const BindingStrategy kStrategy;
  const WriteContext w = WriteContextOf(call, resource, options.dry_run);
  COX_RETURN_IF_ERROR(resource.store()
                          .Update(w, {.ns = call.info.namespace_,
                                      .name = name,
                                      .how = &kStrategy,
                                      .change = [&](const Object* existing) -> Result<Object> {
                                        Object pod = *existing;
                                        COX_RETURN_IF_ERROR(
                                            Assign(binding, w.now, pod.As<core::v1::Pod>()));
                                        return pod;
                                      },
                                      .validate = {},
                                      .validate_create = {},
                                      .uid = binding.metadata.uid})
                          .status());
  RespondSuccess(call, 201, accepted);
  return {};
}

}  // namespace cox::apiserver
