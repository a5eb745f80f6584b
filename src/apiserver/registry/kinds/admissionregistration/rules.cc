// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/admissionregistration/rules.h"

#include <algorithm>
#include <set>

#include "apiserver/registry/validation/field_messages.h"
#include "apiserver/registry/validation/label_selector_validation.h"
#include "base/strings.h"
#include "object/type/gvk.h"
#include "object/validation/names.h"

namespace cox::apiserver {

using admissionregistration::v1::MatchCondition;
using admissionregistration::v1::MatchResources;
using admissionregistration::v1::NamedRuleWithOperations;
using admissionregistration::v1::ParamKind;
using admissionregistration::v1::ParamRef;
using admissionregistration::v1::Rule;
using admissionregistration::v1::RuleWithOperations;

namespace {

constexpr size_t kMaxMatchConditions = 64;

bool Has(const List<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Validates a list in which "*" matches everything and must then be the only item.
void CheckWildcard(const List<std::string>& list, std::string_view what, const FieldPath& path,
                   FieldErrorList* errors) {
  if (list.empty()) {
    errors->push_back(FieldError::Required(path));
  } else if (list.size() > 1 && Has(list, "*")) {
    errors->push_back(FieldError::Invalid(
        path, list, "if '*' is present, must not specify other " + std::string(what)));
  }
}

// "pods", "pods/log", "pods/*", "*/scale", "*" (all resources), "*/*" (and their subresources).
void CheckResources(const List<std::string>& resources, const FieldPath& path,
                    FieldErrorList* errors) {
  if (resources.empty()) {
    errors->push_back(FieldError::Required(path));
    return;
  }
  std::set<std::string_view> with_any_subresource, subresource_of_any;
  bool everything = false, all_resources = false, plain_resource = false;
  for (size_t i = 0; i < resources.size(); ++i) {
    const std::string& entry = resources[i];
    if (entry.empty()) {
      errors->push_back(FieldError::Required(path.Index(i)));
      continue;
    }
    if (entry == "*/*") everything = true;
    if (entry == "*") all_resources = true;
    const CutResult cut = Cut(entry, '/');
    if (!cut.found) {
      if (entry != "*") plain_resource = true;
      continue;
    }
    const std::string_view resource = cut.before, subresource = cut.after;
    if (subresource == "*") with_any_subresource.insert(resource);
    if (resource == "*") subresource_of_any.insert(subresource);
    if (with_any_subresource.contains(resource) && subresource != "*") {
      errors->push_back(FieldError::Invalid(
          path.Index(i), entry,
          "if '" + std::string(resource) + "/*' is present, must not specify " + entry));
    }
    if (subresource_of_any.contains(subresource) && resource != "*") {
      errors->push_back(FieldError::Invalid(
          path.Index(i), entry,
          "if '*/" + std::string(subresource) + "' is present, must not specify " + entry));
    }
  }
  if (resources.size() > 1 && everything) {
    errors->push_back(FieldError::Invalid(path, resources,
                                          "if '*/*' is present, must not specify other resources"));
  }
  if (all_resources && plain_resource) {
    errors->push_back(FieldError::Invalid(
        path, resources,
        "if '*' is present, must not specify other resources without subresources"));
  }
}

FieldErrorList ValidateNamedRule(const NamedRuleWithOperations& rule, const FieldPath& path) {
  FieldErrorList errors;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < rule.resourceNames.size(); ++i) {
    const std::string& name = rule.resourceNames[i];
    const FieldPath at = path.Child("resourceNames").Index(i);
    AppendInvalid(errors, at, name, validation::NameIsPathSegment(name, false));
    if (!seen.insert(name).second) errors.push_back(FieldError::Duplicate(at, name));
  }
  Append(errors, ValidateRule(rule.ruleWithOperations, path));
  return errors;
}

void CheckSelector(const Box<meta::v1::LabelSelector>& selector, const FieldPath& path,
                   FieldErrorList* errors) {
  if (!selector) {
    errors->push_back(FieldError::Required(path));
  } else {
    Append(*errors, ValidateLabelSelector(*selector, path));
  }
}

}  // namespace

void DefaultRule(RuleWithOperations& rule) {
  if (!rule.rule.scope) rule.rule.scope = "*";
}

void DefaultMatchResources(MatchResources& match) {
  if (!match.matchPolicy) match.matchPolicy = "Equivalent";
  if (!match.namespaceSelector) match.namespaceSelector = meta::v1::LabelSelector{};
  if (!match.objectSelector) match.objectSelector = meta::v1::LabelSelector{};
  for (NamedRuleWithOperations& rule : match.resourceRules) DefaultRule(rule.ruleWithOperations);
  for (NamedRuleWithOperations& rule : match.excludeResourceRules) {
    DefaultRule(rule.ruleWithOperations);
  }
}

void CheckSupported(std::string_view value, std::initializer_list<std::string_view> supported,
                    const FieldPath& path, FieldErrorList* errors) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  errors->push_back(FieldError::NotSupported(path, value, supported));
}

FieldErrorList ValidateRule(const RuleWithOperations& rule, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath operations = path.Child("operations");
  CheckWildcard(rule.operations, "operations", operations, &errors);
  for (size_t i = 0; i < rule.operations.size(); ++i) {
    CheckSupported(rule.operations[i], {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"},
                   operations.Index(i), &errors);
  }
  const Rule& what = rule.rule;
  CheckWildcard(what.apiGroups, "API groups", path.Child("apiGroups"), &errors);
  const FieldPath versions = path.Child("apiVersions");
  CheckWildcard(what.apiVersions, "API versions", versions, &errors);
  for (size_t i = 0; i < what.apiVersions.size(); ++i) {
    if (what.apiVersions[i].empty()) errors.push_back(FieldError::Required(versions.Index(i)));
  }
  CheckResources(what.resources, path.Child("resources"), &errors);
  if (what.scope) {
    CheckSupported(*what.scope, {"*", "Cluster", "Namespaced"}, path.Child("scope"), &errors);
  }
  return errors;
}

FieldErrorList ValidateMatchResources(const MatchResources& match, const FieldPath& path) {
  FieldErrorList errors;
  CheckSelector(match.namespaceSelector, path.Child("namespaceSelector"), &errors);
  CheckSelector(match.objectSelector, path.Child("objectSelector"), &errors);
  for (size_t i = 0; i < match.resourceRules.size(); ++i) {
    Append(errors, ValidateNamedRule(match.resourceRules[i], path.Child("resourceRules").Index(i)));
  }
  for (size_t i = 0; i < match.excludeResourceRules.size(); ++i) {
    Append(errors, ValidateNamedRule(match.excludeResourceRules[i],
                                     path.Child("excludeResourceRules").Index(i)));
  }
  const FieldPath policy = path.Child("matchPolicy");
  if (!match.matchPolicy || match.matchPolicy->empty()) {
    errors.push_back(FieldError::Required(policy));
  } else {
    CheckSupported(*match.matchPolicy, {"Equivalent", "Exact"}, policy, &errors);
  }
  return errors;
}

FieldErrorList ValidateParamRef(const ParamRef& ref, const FieldPath& path) {
  constexpr std::string_view kExclusive = "name and selector are mutually exclusive";
  FieldErrorList errors;
  if (!ref.name.empty()) {
    AppendInvalid(errors, path.Child("name"), ref.name,
                  validation::NameIsPathSegment(ref.name, false));
    if (ref.selector) {
      errors.push_back(FieldError::Forbidden(path.Child("name"), std::string(kExclusive)));
    }
  }
  if (ref.selector) {
    Append(errors, ValidateLabelSelector(*ref.selector, path.Child("selector")));
    if (!ref.name.empty()) {
      errors.push_back(FieldError::Forbidden(path.Child("selector"), std::string(kExclusive)));
    }
  }
  if (ref.name.empty() && !ref.selector) {
    errors.push_back(FieldError::Required(path, "one of name or selector must be specified"));
  }
  const FieldPath action = path.Child("parameterNotFoundAction");
  if (!ref.parameterNotFoundAction || ref.parameterNotFoundAction->empty()) {
    errors.push_back(FieldError::Required(action));
  } else {
    CheckSupported(*ref.parameterNotFoundAction, {"Deny", "Allow"}, action, &errors);
  }
  return errors;
}

FieldErrorList ValidateParamKind(const ParamKind& kind, const FieldPath& path) {
  FieldErrorList errors;
  const FieldPath version = path.Child("apiVersion");
  if (kind.apiVersion.empty()) {
    errors.push_back(FieldError::Required(version));
  } else if (Result<GroupVersion> parsed = GroupVersion::Parse(kind.apiVersion); !parsed.ok()) {
    errors.push_back(
        FieldError::Invalid(version, kind.apiVersion, std::string(parsed.status().message())));
  } else {
    if (!parsed->group.empty()) {
      AppendInvalid(errors, version, parsed->group, validation::IsDNS1123Subdomain(parsed->group));
    }
    AppendInvalid(errors, version, parsed->version, validation::IsDNS1035Label(parsed->version));
  }
  if (kind.kind.empty()) {
    errors.push_back(FieldError::Required(path.Child("kind")));
    return errors;
  }
  std::string lower = kind.kind;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const validation::Messages messages = validation::IsDNS1035Label(lower);
  if (!messages.empty()) {
    std::string text = "may have mixed case, but should otherwise match: ";
    for (size_t i = 0; i < messages.size(); ++i) text += (i == 0 ? "" : ",") + messages[i];
    errors.push_back(FieldError::Invalid(path.Child("kind"), kind.kind, text));
  }
  return errors;
}

FieldErrorList ValidateMatchConditions(const List<MatchCondition>& conditions,
                                       const FieldPath& path) {
  FieldErrorList errors;
  if (conditions.size() > kMaxMatchConditions) {
    errors.push_back(FieldError::TooMany(path, static_cast<int64_t>(conditions.size()),
                                         static_cast<int64_t>(kMaxMatchConditions)));
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const FieldPath at = path.Index(i);
    if (TrimSpace(conditions[i].expression).empty()) {
      errors.push_back(FieldError::Required(at.Child("expression")));
    }
    const std::string& name = conditions[i].name;
    if (name.empty()) {
      errors.push_back(FieldError::Required(at.Child("name")));
      continue;
    }
    AppendInvalid(errors, at.Child("name"), name, validation::IsQualifiedName(name));
    if (!seen.insert(name).second) {
      errors.push_back(FieldError::Duplicate(at.Child("name"), name));
    }
  }
  return errors;
}

bool IsCelIdentifier(std::string_view name) {
  static constexpr std::string_view kReserved[] = {
      "true",     "false",   "null",      "in",       "as",  "break",  "const",
      "continue", "else",    "for",       "function", "if",  "import", "let",
      "loop",     "package", "namespace", "return",   "var", "void",   "while"};
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return std::find(std::begin(kReserved), std::end(kReserved), name) == std::end(kReserved);
}

std::string ParamKindCell(const ParamKind* kind) {
  return kind == nullptr ? "<unset>" : kind->apiVersion + "/" + kind->kind;
}

std::string ParamRefCell(const ParamRef* ref) {
  if (ref == nullptr) return "<unset>";
  return ref->namespace_.empty() ? ref->name : ref->namespace_ + "/" + ref->name;
}

}  // namespace cox::apiserver
