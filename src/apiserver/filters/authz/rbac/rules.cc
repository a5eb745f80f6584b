// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authz/rbac/rules.h"

#include <algorithm>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

using Strings = List<std::string>;

constexpr std::string_view kAll = "*";

bool Has(const Strings& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool HasOrAll(const Strings& list, std::string_view item) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& each) { return each == kAll || each == item; });
}

// Matches "pods", or "pods/log" with a subresource, without concatenation.
bool IsResource(std::string_view text, std::string_view resource, std::string_view subresource) {
  if (subresource.empty()) return text == resource;
  return text.size() == resource.size() + 1 + subresource.size() && text.starts_with(resource) &&
         text[resource.size()] == '/' && text.ends_with(subresource);
}

bool ResourceMatches(const Strings& resources, std::string_view resource,
                     std::string_view subresource) {
  for (const std::string& each : resources) {
    if (each == kAll || IsResource(each, resource, subresource)) return true;
    if (!subresource.empty() && IsResource(each, kAll, subresource)) return true;
  }
  return false;
}

bool PathMatches(const Strings& urls, std::string_view path) {
  for (std::string_view url : urls) {
    if (url == kAll || url == path) return true;
    if (!url.ends_with('*')) continue;
    while (url.ends_with('*')) url.remove_suffix(1);
    if (path.starts_with(url)) return true;
  }
  return false;
}

// Whether a held rule contains `part`, which has one element per field.
bool Contains(const PolicyRule& held, const PolicyRule& part) {
  if (!HasOrAll(held.verbs, part.verbs.front())) return false;
  if (!part.nonResourceURLs.empty()) {
    return PathMatches(held.nonResourceURLs, part.nonResourceURLs.front());
  }
  if (!HasOrAll(held.apiGroups, part.apiGroups.front())) return false;
  const CutResult resource = Cut(part.resources.front(), '/');
  if (!ResourceMatches(held.resources, resource.before, resource.after)) return false;
  if (held.resourceNames.empty()) return true;
  return !part.resourceNames.empty() && Has(held.resourceNames, part.resourceNames.front());
}

PolicyRule ResourcePart(const std::string& group, const std::string& resource,
                        const std::string& verb, const std::string* name) {
  PolicyRule part;
  part.apiGroups = {group};
  part.resources = {resource};
  part.verbs = {verb};
  if (name != nullptr) part.resourceNames = {*name};
  return part;
}

// Splits a rule into rules with one element per field.
void BreakDown(const PolicyRule& rule, List<PolicyRule>& parts) {
  for (const std::string& group : rule.apiGroups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        if (rule.resourceNames.empty()) {
          parts.push_back(ResourcePart(group, resource, verb, nullptr));
        }
        for (const std::string& name : rule.resourceNames) {
          parts.push_back(ResourcePart(group, resource, verb, &name));
        }
      }
    }
  }
  for (const std::string& url : rule.nonResourceURLs) {
    for (const std::string& verb : rule.verbs) {
      PolicyRule part;
      part.nonResourceURLs = {url};
      part.verbs = {verb};
      parts.push_back(std::move(part));
    }
  }
}

void AppendField(std::string& text, std::string_view name, const Strings& items) {
  if (items.empty()) return;
  if (text.size() > 1) text += ", ";
  text.append(name).append(":[");
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ' ';
    AppendQuoted(text, items[i]);
  }
  text += ']';
}

}  // namespace

bool RuleAllows(const PolicyRule& rule, const RequestInfo& request) {
  if (!HasOrAll(rule.verbs, request.verb)) return false;
  if (!request.is_resource) return PathMatches(rule.nonResourceURLs, request.path);
  return HasOrAll(rule.apiGroups, request.group) &&
         ResourceMatches(rule.resources, request.resource, request.subresource) &&
         (rule.resourceNames.empty() || Has(rule.resourceNames, request.name));
}

List<PolicyRule> MissingRules(std::span<const PolicyRule> held,
                              std::span<const PolicyRule> wanted) {
  List<PolicyRule> parts, missing;
  for (const PolicyRule& rule : wanted) BreakDown(rule, parts);
  for (PolicyRule& part : parts) {
    const bool covered = std::any_of(held.begin(), held.end(),
                                     [&](const PolicyRule& rule) { return Contains(rule, part); });
    if (!covered) missing.push_back(std::move(part));
  }
  return missing;
}

List<PolicyRule> CompactRules(List<PolicyRule> rules) {
  List<PolicyRule> compact;
  for (PolicyRule& rule : rules) {
    const auto same = std::find_if(compact.begin(), compact.end(), [&](const PolicyRule& other) {
      return rule.nonResourceURLs.empty() && other.nonResourceURLs.empty() &&
             other.apiGroups == rule.apiGroups && other.resources == rule.resources &&
             other.resourceNames == rule.resourceNames;
    });
    if (same == compact.end()) {
      compact.push_back(std::move(rule));
      continue;
    }
    for (std::string& verb : rule.verbs) {
      if (!Has(same->verbs, verb)) same->verbs.push_back(std::move(verb));
    }
  }
  return compact;
}

std::string RuleText(const PolicyRule& rule) {
  std::string text = "{";
  AppendField(text, "APIGroups", rule.apiGroups);
  AppendField(text, "Resources", rule.resources);
  AppendField(text, "NonResourceURLs", rule.nonResourceURLs);
  AppendField(text, "ResourceNames", rule.resourceNames);
  AppendField(text, "Verbs", rule.verbs);
  return text + "}";
}

}  // namespace cox::apiserver
