// SPDX-License-Identifier: Apache-2.0
// Validation of the rules of a FlowSchema: subjects, and the requests that they match.
#include <algorithm>
#include <string>

#include "apiserver/registry/kinds/flowcontrol/strategy.h"
#include "apiserver/registry/validation/field_checks.h"

namespace cox::apiserver {
namespace {

using flowcontrol::v1::NonResourcePolicyRule;
using flowcontrol::v1::ResourcePolicyRule;
using flowcontrol::v1::Subject;

constexpr std::string_view kVerbs[] = {"create", "delete", "deletecollection", "get",  "list",
                                       "patch",  "proxy",  "update",           "watch"};

bool HasWildcard(const List<std::string>& list) {
  return std::find(list.begin(), list.end(), "*") != list.end();
}

void CheckNamed(FieldErrorList& errors, const std::string* name, const FieldPath& path,
                std::string_view required) {
  if (name == nullptr) {
    errors.push_back(FieldError::Required(path, std::string(required)));
  } else if (name->empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  }
}

void CheckServiceAccount(FieldErrorList& errors, const Subject& subject, const FieldPath& path) {
  if (!subject.serviceAccount) {
    errors.push_back(FieldError::Required(
        path, "serviceAccount is required when subject kind is 'ServiceAccount'"));
    return;
  }
  const auto& [ns, name] =
      std::tie(subject.serviceAccount->namespace_, subject.serviceAccount->name);
  if (name.empty()) {
    errors.push_back(FieldError::Required(path.Child("name")));
  } else if (name != "*") {
    AppendInvalid(errors, path.Child("name"), name, validation::NameIsDNSSubdomain(name, false));
  }
  if (ns.empty()) {
    errors.push_back(FieldError::Required(path.Child("namespace"),
                                          "must specify namespace for service account"));
  } else {
    AppendInvalid(errors, path.Child("namespace"), ns, validation::NameIsDNSLabel(ns, false));
  }
}

// Only the member for `kind` may be set.
void CheckSubject(FieldErrorList& errors, const Subject& subject, const FieldPath& path) {
  bool user = subject.kind == "User", group = subject.kind == "Group",
       account = subject.kind == "ServiceAccount";
  if (!user && !group && !account) {
    errors.push_back(FieldError::NotSupported(path.Child("kind"), subject.kind,
                                              {"Group", "ServiceAccount", "User"}));
    return;
  }
  if (account) CheckServiceAccount(errors, subject, path.Child("serviceAccount"));
  if (user) {
    CheckNamed(errors, subject.user ? &subject.user->name : nullptr, path.Child("user"),
               "user is required when subject kind is 'User'");
  }
  if (group) {
    CheckNamed(errors, subject.group ? &subject.group->name : nullptr, path.Child("group"),
               "group is required when subject kind is 'Group'");
  }
  if (!account && subject.serviceAccount) {
    errors.push_back(FieldError::Forbidden(
        path.Child("serviceAccount"),
        "serviceAccount is forbidden when subject kind is not 'ServiceAccount'"));
  }
  if (!user && subject.user) {
    errors.push_back(FieldError::Forbidden(path.Child("user"),
                                           "user is forbidden when subject kind is not 'User'"));
  }
  if (!group && subject.group) {
    errors.push_back(FieldError::Forbidden(path.Child("group"),
                                           "group is forbidden when subject kind is not 'Group'"));
  }
}

// The list must not be empty, and "*" must be the only item. Returns whether to validate the items.
bool CheckList(FieldErrorList& errors, const List<std::string>& list, const FieldPath& path,
               std::string_view required, std::string_view others) {
  if (list.empty()) {
    errors.push_back(FieldError::Required(path, std::string(required)));
    return false;
  }
  if (!HasWildcard(list)) return true;
  if (list.size() > 1) {
    errors.push_back(FieldError::Invalid(
        path, list, "if '*' is present, must not specify other " + std::string(others)));
  }
  return false;
}

void CheckVerbs(FieldErrorList& errors, const List<std::string>& verbs, const FieldPath& path) {
  if (!CheckList(errors, verbs, path, "verbs must contain at least one value", "verbs")) return;
  for (const std::string& verb : verbs) {
    if (std::find(std::begin(kVerbs), std::end(kVerbs), verb) != std::end(kVerbs)) continue;
    errors.push_back(FieldError::NotSupported(path, verbs, kVerbs));
    return;
  }
}

void CheckResourceRule(FieldErrorList& errors, const ResourcePolicyRule& rule,
                       const FieldPath& path) {
  CheckVerbs(errors, rule.verbs, path.Child("verbs"));
  CheckList(errors, rule.apiGroups, path.Child("apiGroups"),
            "resource rules must supply at least one api group", "api groups");
  CheckList(errors, rule.resources, path.Child("resources"),
            "resource rules must supply at least one resource", "resources");
  FieldPath namespaces = path.Child("namespaces");
  if (rule.namespaces.empty() && rule.clusterScope) return;
  if (!CheckList(errors, rule.namespaces, namespaces,
                 "resource rules that are not cluster scoped must supply at least one namespace",
                 "namespaces")) {
    return;
  }
  for (size_t i = 0; i < rule.namespaces.size(); ++i) {
    AppendInvalid(errors, namespaces.Index(i), rule.namespaces[i],
                  validation::NameIsDNSLabel(rule.namespaces[i], false));
  }
}

// Returns the error for a path or a path prefix ("/healthz", "/apis/*"); empty if it is valid.
std::string_view UrlProblem(std::string_view url) {
  if (url.empty()) return "must not be empty";
  if (url == "/") return "";
  if (url[0] != '/') return "must start with slash";
  if (url.find(' ') != std::string_view::npos) return "must not contain white-space";
  if (url.find("//") != std::string_view::npos) return "must not contain double slash";
  auto stars = std::count(url.begin(), url.end(), '*');
  if (stars > 1 || (stars == 1 && !url.ends_with("/*"))) {
    return "wildcard can only do suffix matching";
  }
  return "";
}

void CheckNonResourceRule(FieldErrorList& errors, const NonResourcePolicyRule& rule,
                          const FieldPath& path) {
  CheckVerbs(errors, rule.verbs, path.Child("verbs"));
  FieldPath urls = path.Child("nonResourceURLs");
  if (!CheckList(errors, rule.nonResourceURLs, urls,
                 "nonResourceURLs must contain at least one value", "non-resource URLs")) {
    return;
  }
  for (size_t i = 0; i < rule.nonResourceURLs.size(); ++i) {
    std::string_view problem = UrlProblem(rule.nonResourceURLs[i]);
    if (problem.empty()) continue;
    errors.push_back(
        FieldError::Invalid(urls.Index(i), rule.nonResourceURLs[i], std::string(problem)));
  }
}

}  // namespace

FieldErrorList ValidateFlowSchemaRule(const flowcontrol::v1::PolicyRulesWithSubjects& rule,
                                      const FieldPath& path) {
  FieldErrorList errors;
  if (rule.subjects.empty()) {
    errors.push_back(
        FieldError::Required(path.Child("subjects"), "subjects must contain at least one value"));
  }
  for (size_t i = 0; i < rule.subjects.size(); ++i) {
    CheckSubject(errors, rule.subjects[i], path.Child("subjects").Index(i));
  }
  if (rule.resourceRules.empty() && rule.nonResourceRules.empty()) {
    errors.push_back(FieldError::Required(
        path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (size_t i = 0; i < rule.resourceRules.size(); ++i) {
    CheckResourceRule(errors, rule.resourceRules[i], path.Child("resourceRules").Index(i));
  }
  for (size_t i = 0; i < rule.nonResourceRules.size(); ++i) {
    CheckNonResourceRule(errors, rule.nonResourceRules[i], path.Child("nonResourceRules").Index(i));
  }
  return errors;
}

}  // namespace cox::apiserver
