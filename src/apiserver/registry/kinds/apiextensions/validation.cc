// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "apiserver/registry/kinds/admissionregistration/webhook_client.h"
#include "apiserver/registry/kinds/apiextensions/definition.h"
#include "apiserver/registry/kinds/apiextensions/schema_validation.h"
#include "apiserver/registry/kinds/apiextensions/version_parts.h"
#include "apiserver/registry/validation/field_messages.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

using apiextensions::v1::CustomResourceConversion;
using apiextensions::v1::CustomResourceDefinition;
using apiextensions::v1::CustomResourceDefinitionNames;
using apiextensions::v1::CustomResourceDefinitionSpec;
using apiextensions::v1::CustomResourceDefinitionVersion;

constexpr std::string_view kApprovalAnnotation = "api-approved.kubernetes.io";

// Kind names are DNS labels in which capitals are allowed.
void CheckKindName(const std::string& name, const FieldPath& path, FieldErrorList* errors) {
  if (name.empty()) return;
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const validation::Messages messages = validation::IsDNS1035Label(lower);
  if (messages.empty()) return;
  std::string text = "may have mixed case, but should otherwise match: ";
  for (size_t i = 0; i < messages.size(); ++i) text += (i == 0 ? "" : ",") + messages[i];
  errors->push_back(FieldError::Invalid(path, name, text));
}

void CheckNames(const CustomResourceDefinitionNames& names, const FieldPath& path,
                FieldErrorList* errors) {
  auto label = [&](const std::string& name, const FieldPath& at) {
    AppendInvalid(*errors, at, name, validation::IsDNS1035Label(name));
  };
  if (!names.plural.empty()) label(names.plural, path.Child("plural"));
  if (!names.singular.empty()) label(names.singular, path.Child("singular"));
  CheckKindName(names.kind, path.Child("kind"), errors);
  CheckKindName(names.listKind, path.Child("listKind"), errors);
  for (size_t i = 0; i < names.shortNames.size(); ++i) {
    label(names.shortNames[i], path.Child("shortNames").Index(i));
  }
  if (!names.kind.empty() && names.kind == names.listKind) {
    errors->push_back(FieldError::Invalid(path.Child("listKind"), names.listKind,
                                          "kind and listKind may not be the same"));
  }
  for (size_t i = 0; i < names.categories.size(); ++i) {
    label(names.categories[i], path.Child("categories").Index(i));
  }
}

void RequireNames(const CustomResourceDefinitionNames& names, const FieldPath& path,
                  FieldErrorList* errors) {
  const std::pair<const char*, const std::string*> members[] = {{"plural", &names.plural},
                                                                {"singular", &names.singular},
                                                                {"kind", &names.kind},
                                                                {"listKind", &names.listKind}};
  for (const auto& [name, value] : members) {
    if (value->empty()) errors->push_back(FieldError::Required(path.Child(name)));
  }
}

void CheckGroupAndScope(const CustomResourceDefinitionSpec& spec, const FieldPath& path,
                        FieldErrorList* errors) {
  const FieldPath group = path.Child("group");
  if (spec.group.empty()) {
    errors->push_back(FieldError::Required(group));
  } else if (const auto messages = validation::IsDNS1123Subdomain(spec.group); !messages.empty()) {
    AppendInvalid(*errors, group, spec.group, messages);
  } else if (spec.group.find('.') == std::string::npos) {
    errors->push_back(
        FieldError::Invalid(group, spec.group, "should be a domain with at least one dot"));
  }
  const FieldPath scope = path.Child("scope");
  if (spec.scope.empty()) {
    errors->push_back(FieldError::Required(scope));
  } else if (spec.scope != "Cluster" && spec.scope != "Namespaced") {
    errors->push_back(FieldError::NotSupported(scope, spec.scope, {"Cluster", "Namespaced"}));
  }
}

void CheckVersions(const CustomResourceDefinitionSpec& spec, const CommonParts& common,
                   const FieldPath& path, FieldErrorList* errors) {
  const FieldPath versions = path.Child("versions");
  std::set<std::string_view> names;
  bool unique = true;
  int storage = 0;
  for (size_t i = 0; i < spec.versions.size(); ++i) {
    const CustomResourceDefinitionVersion& version = spec.versions[i];
    const bool has_schema = version.schema && version.schema->openAPIV3Schema;
    if (!has_schema) {
      errors->push_back(
          FieldError::Required(versions.Index(i).Child("schema").Child("openAPIV3Schema")));
    }
  }
  for (size_t i = 0; i < spec.versions.size(); ++i) {
    const CustomResourceDefinitionVersion& version = spec.versions[i];
    if (version.storage) ++storage;
    if (!names.insert(version.name).second) unique = false;
    AppendInvalid(*errors, versions.Index(i).Child("name"), version.name,
                  validation::IsDNS1035Label(version.name));
    if (version.deprecationWarning && !version.deprecated) {
      errors->push_back(FieldError::Invalid(versions.Index(i).Child("deprecationWarning"),
                                            *version.deprecationWarning,
                                            "can only be set for deprecated versions"));
    }
    Append(*errors, ValidateVersionParts(version, common, versions.Index(i)));
  }
  if (!unique) {
    errors->push_back(FieldError::Invalid(versions, InternalVersions(spec.versions, common),
                                          "must contain unique version names"));
  }
  if (storage != 1) {
    errors->push_back(FieldError::Invalid(versions, InternalVersions(spec.versions, common),
                                          "must have exactly one version marked as storage "
                                          "version"));
  }
  // The internal type has the first version also in spec.version.
  if (!spec.versions.empty()) {
    const std::string& first = spec.versions[0].name;
    AppendInvalid(*errors, path.Child("version"), first, validation::IsDNS1035Label(first));
  }
}

void CheckConversion(const CustomResourceConversion& conversion, const FieldPath& path,
                     FieldErrorList* errors) {
  const FieldPath strategy = path.Child("strategy");
  if (conversion.strategy.empty()) {
    errors->push_back(FieldError::Required(strategy));
  } else if (conversion.strategy != "None" && conversion.strategy != "Webhook") {
    errors->push_back(FieldError::NotSupported(strategy, conversion.strategy, {"None", "Webhook"}));
  }
  const FieldPath client = path.Child("webhookClientConfig");
  const FieldPath review = path.Child("conversionReviewVersions");
  const auto* webhook = conversion.webhook.get();
  const auto* config = webhook != nullptr ? webhook->clientConfig.get() : nullptr;
  static const List<std::string> kNone;
  const auto& versions = webhook != nullptr ? webhook->conversionReviewVersions : kNone;
  if (conversion.strategy != "Webhook") {
    constexpr std::string_view kUnused = "should not be set when strategy is not set to Webhook";
    if (config != nullptr) errors->push_back(FieldError::Forbidden(client, std::string(kUnused)));
    if (!versions.empty()) errors->push_back(FieldError::Forbidden(review, std::string(kUnused)));
    return;
  }
  if (config == nullptr) {
    errors->push_back(FieldError::Required(client, "required when strategy is set to Webhook"));
  } else if (config->url.has_value() == config->service.has_value()) {
    errors->push_back(FieldError::Required(client, "exactly one of url or service is required"));
  } else if (config->url) {
    Append(*errors, ValidateWebhookUrl(*config->url, client.Child("url")));
  } else {
    Append(*errors, ValidateWebhookService(config->service->name, config->service->namespace_,
                                           config->service->path, config->service->port,
                                           client.Child("service")));
  }
  if (versions.empty()) {
    errors->push_back(FieldError::Required(review));
  } else {
    Append(*errors, ValidateReviewVersions(versions, {"v1", "v1beta1"}, review));
  }
}

void CheckStoredVersions(const CustomResourceDefinition& object, FieldErrorList* errors) {
  const FieldPath path = FieldPath("status").Child("storedVersions");
  const auto& stored = object.status.storedVersions;
  if (stored.empty()) {
    errors->push_back(
        FieldError::Invalid(path, FieldValue(nullptr), "must have at least one stored version"));
    return;
  }
  for (size_t i = 0; i < stored.size(); ++i) {
    const bool known =
        std::any_of(object.spec.versions.begin(), object.spec.versions.end(),
                    [&](const CustomResourceDefinitionVersion& v) { return v.name == stored[i]; });
    if (!known) {
      errors->push_back(
          FieldError::Invalid(path.Index(i), stored[i], "must appear in spec.versions"));
    }
  }
  for (const CustomResourceDefinitionVersion& version : object.spec.versions) {
    if (version.storage && std::find(stored.begin(), stored.end(), version.name) == stored.end()) {
      errors->push_back(
          FieldError::Invalid(path, stored, "must have the storage version " + version.name));
    }
  }
}

// Groups of the Kubernetes project need an approval annotation.
void CheckApproval(const CustomResourceDefinition& object, const CustomResourceDefinition* old,
                   FieldErrorList* errors) {
  const std::string& group = object.spec.group;
  const bool is_protected = group == "k8s.io" || group == "kubernetes.io" ||
                            group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
  if (!is_protected) return;
  const std::string* value = object.metadata.annotations.Get(kApprovalAnnotation);
  // Unchanged annotations of stored definitions remain valid.
  const std::string* before =
      old != nullptr ? old->metadata.annotations.Get(kApprovalAnnotation) : nullptr;
  if (old != nullptr && (value == nullptr ? before == nullptr : before && *before == *value))
    return;
  const FieldPath path = FieldPath("metadata").Child("annotations").Key(kApprovalAnnotation);
  if (value == nullptr || value->empty()) {
    errors->push_back(FieldError::Required(
        path,
        "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
        "https://github.com/kubernetes/enhancements/pull/1111"));
    return;
  }
  const bool is_url = value->find("://") != std::string::npos && value->find("://") > 0;
  if (!value->starts_with("unapproved") && !is_url) {
    errors->push_back(FieldError::Invalid(
        path, *value,
        "protected groups must have approval annotation \"api-approved.kubernetes.io\" with either "
        "a URL or a reason starting with \"unapproved\", see "
        "https://github.com/kubernetes/enhancements/pull/1111"));
  }
}

void CheckImmutable(const CustomResourceDefinition& object, const CustomResourceDefinition& old,
                    FieldErrorList* errors) {
  const FieldPath path("spec");
  auto immutable = [&](const std::string& now, const std::string& before, const FieldPath& at) {
    if (now != before) errors->push_back(FieldError::Invalid(at, now, "field is immutable"));
  };
  const auto* established = FindCondition(old, "Established");
  if (established != nullptr && established->status == "True") {
    // Custom resources with this scope and kind may exist.
    immutable(object.spec.scope, old.spec.scope, path.Child("scope"));
    immutable(object.spec.names.kind, old.spec.names.kind, path.Child("names").Child("kind"));
  }
  immutable(object.spec.group, old.spec.group, path.Child("group"));
  immutable(object.spec.names.plural, old.spec.names.plural, path.Child("names").Child("plural"));
}

}  // namespace

FieldErrorList ValidateDefinition(const CustomResourceDefinition& definition,
                                  const CustomResourceDefinition* old) {
  FieldErrorList errors;
  const CustomResourceDefinitionSpec& spec = definition.spec;
  const FieldPath path("spec");
  if (definition.metadata.name != spec.names.plural + "." + spec.group) {
    errors.push_back(FieldError::Invalid(FieldPath("metadata").Child("name"),
                                         definition.metadata.name,
                                         "must be spec.names.plural+\".\"+spec.group"));
  }
  const CommonParts common = FindCommonParts(spec.versions);
  CheckGroupAndScope(spec, path, &errors);
  CheckVersions(spec, common, path, &errors);
  RequireNames(spec.names, path.Child("names"), &errors);
  CheckNames(spec.names, path.Child("names"), &errors);
  Append(errors, ValidateCommonParts(spec.versions, common, path));
  if (spec.conversion) CheckConversion(*spec.conversion, path.Child("conversion"), &errors);
  if (old != nullptr) CheckImmutable(definition, *old, &errors);
  CheckNames(definition.status.acceptedNames, FieldPath("status").Child("acceptedNames"), &errors);
  CheckStoredVersions(definition, &errors);
  CheckApproval(definition, old, &errors);
  if (spec.preserveUnknownFields && (old == nullptr || !old->spec.preserveUnknownFields)) {
    errors.push_back(
        FieldError::Invalid(path.Child("preserveUnknownFields"), true,
                            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true "
                            "in spec.versions[*].schema instead"));
  }
  return errors;
}

std::vector<std::string> WarnOnDefinition(const CustomResourceDefinition& definition) {
  std::set<std::string> formats;
  for (const CustomResourceDefinitionVersion& version : definition.spec.versions) {
    if (!version.schema || !version.schema->openAPIV3Schema) continue;
    for (std::string& format : UnknownFormats(*version.schema->openAPIV3Schema)) {
      formats.insert(std::move(format));
    }
  }
  std::vector<std::string> warnings;
  for (const std::string& format : formats) {
    warnings.push_back("unrecognized format " + Quote(format));
  }
  return warnings;
}

}  // namespace cox::apiserver
