// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/webhook/match.h"

#include <algorithm>

#include "api/core/v1.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using admissionregistration::v1::RuleWithOperations;

bool Names(const List<std::string>& values, std::string_view value) {
  return std::any_of(values.begin(), values.end(),
                     [&](const std::string& each) { return each == "*" || each == value; });
}

bool NamesResource(const List<std::string>& resources, const RuleSubject& subject) {
  return std::any_of(resources.begin(), resources.end(), [&](const std::string& each) {
    const CutResult cut = Cut(each, '/');
    return (cut.before == "*" || cut.before == subject.resource) &&
           (cut.after == "*" || cut.after == subject.subresource);
  });
}

bool IsNamespace(const AdmissionRequest& request) {
  return request.resource.kind().group.empty() && request.resource.kind().plural == "namespaces";
}

bool HasLabels(const labels::Selector& selector, const Object* object) {
  if (object == nullptr) return false;
  if (const meta::v1::ObjectMeta* meta = object->object_meta()) {
    return selector.Matches(meta->labels);
  }
  if (object->is_typed()) return false;  // options objects have no metadata
  const Value* const labels = object->value().At({"metadata", "labels"});
  return selector.Matches([&](std::string_view key) -> std::optional<std::string_view> {
    const Value* const label = labels == nullptr ? nullptr : labels->Find(key);
    if (label == nullptr || !label->is_string()) return std::nullopt;
    return label->as_string();
  });
}

Result<bool> NamespaceMatches(Context& ctx, const Registry& registry, const Webhook& webhook,
                              const AdmissionRequest& request) {
  if (webhook.namespaces.Empty()) return true;
  // For a Namespace, the labels of the new object count.
  if (IsNamespace(request) && request.subresource.empty() && request.object != nullptr) {
    return HasLabels(webhook.namespaces, request.object);
  }
  const std::string& name = NamespaceOf(request);
  if (name.empty()) return true;  // cluster-scoped objects always match
  const ResourceStore& store = registry.Hub(core::v1::Namespace::kKind).store();
  if (const storage::SnapshotPtr now = store.cache()->Current()) {
    if (const storage::EntryPtr entry = now->Find(store.Key("", name))) {
      return webhook.namespaces.Matches(entry->labels());
    }
  }
  // A namespace that was just created may not be in the cache yet.
  COX_ASSIGN_OR_RETURN(const Object found, store.Get(ctx, "", name));
  return HasLabels(webhook.namespaces, &found);
}

RuleSubject SubjectOf(const AdmissionRequest& request, const ServedResource& as) {
  return {.operation = request.operation,
          .group = as.kind().group,
          .version = as.kind().version,
          .resource = as.kind().plural,
          .subresource = request.subresource,
          .in_namespace = !IsNamespace(request) && !request.ns.empty()};
}

const ServedResource* MatchRules(const Webhook& webhook, const AdmissionRequest& request) {
  const auto matches = [&](const RuleWithOperations& rule, const ServedResource& as) {
    return RuleMatches(rule, SubjectOf(request, as));
  };
  for (const RuleWithOperations& rule : webhook.rules) {
    if (matches(rule, request.resource)) return &request.resource;
  }
  if (!webhook.equivalent) return nullptr;
  for (const RuleWithOperations& rule : webhook.rules) {
    for (const auto& other : request.resource.versions()) {
      if (other.get() != &request.resource && matches(rule, *other)) return other.get();
    }
  }
  return nullptr;
}

}  // namespace

bool RuleMatches(const RuleWithOperations& rule, const RuleSubject& subject) {
  if (rule.rule.scope == "Namespaced" && !subject.in_namespace) return false;
  if (rule.rule.scope == "Cluster" && subject.in_namespace) return false;
  return Names(rule.operations, OperationName(subject.operation)) &&
         Names(rule.rule.apiGroups, subject.group) &&
         Names(rule.rule.apiVersions, subject.version) &&
         NamesResource(rule.rule.resources, subject);
}

const std::string& NamespaceOf(const AdmissionRequest& request) {
  return IsNamespace(request) ? request.name : request.ns;
}

bool IsExempt(const AdmissionRequest& request) {
  static constexpr std::string_view kExempt[] = {
      "mutatingadmissionpolicies",         "mutatingadmissionpolicybindings",
      "mutatingwebhookconfigurations",     "validatingadmissionpolicies",
      "validatingadmissionpolicybindings", "validatingwebhookconfigurations"};
  const KindInfo& kind = request.resource.kind();
  return kind.group == "admissionregistration.k8s.io" &&
         std::find(std::begin(kExempt), std::end(kExempt), kind.plural) != std::end(kExempt);
}

Result<const ServedResource*> MatchWebhook(Context& ctx, const Registry& registry,
                                           const Webhook& webhook,
                                           const AdmissionRequest& request) {
  // Rules are matched first: errors of selectors must not affect requests without a matching rule.
  const ServedResource* const as = MatchRules(webhook, request);
  if (as == nullptr) return as;
  if (!webhook.objects.Empty() && !HasLabels(webhook.objects, request.object) &&
      !HasLabels(webhook.objects, request.old)) {
    return nullptr;
  }
  COX_ASSIGN_OR_RETURN(const bool in_namespace, NamespaceMatches(ctx, registry, webhook, request));
  if (!in_namespace) return nullptr;
  if (webhook.has_conditions) {
    // Conditions cannot be evaluated yet. As for a failed condition, failurePolicy applies.
    if (webhook.ignore_failure) return nullptr;
    return ForbiddenError(request.resource.resource(), request.name,
                          "matchConditions of admission webhook " + Quote(webhook.name) +
                              " cannot be evaluated: expressions are not supported");
  }
  return as;
}

}  // namespace cox::apiserver
