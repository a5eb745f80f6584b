// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/events/policy.h"

#include <algorithm>
#include <iterator>

#include "apiserver/config/config_reader.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kLevels[] = {"None", "Metadata", "Request", "RequestResponse"};
constexpr std::string_view kStages[] = {"RequestReceived", "ResponseStarted", "ResponseComplete",
                                        "Panic"};

bool PathMatches(std::string_view path, std::string_view pattern) {
  if (!pattern.ends_with('*')) return path == pattern;
  pattern.remove_suffix(1);
  return path.starts_with(pattern);
}

}  // namespace

std::string_view AuditLevelName(AuditLevel level) { return kLevels[static_cast<size_t>(level)]; }
std::string_view AuditStageName(AuditStage stage) { return kStages[static_cast<size_t>(stage)]; }

AuditPolicy::Names::Names(std::vector<std::string> names) : names_(std::move(names)) {
  std::sort(names_.begin(), names_.end());
}

bool AuditPolicy::Names::Contains(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  return at != names_.end() && *at == name;
}

AuditPolicy::ResourcePattern::ResourcePattern(std::string_view text) {
  const CutResult cut = Cut(text, '/');
  resource = cut.before;
  subresource = cut.after;
  if (text == "*") {
    shape = Shape::kAll;
  } else if (!cut.found) {
    shape = Shape::kResource;
  } else if (cut.before == "*") {
    shape = Shape::kSubresource;
  } else if (cut.after == "*") {
    shape = Shape::kWithSubresources;
  } else {
    shape = Shape::kExact;
  }
}

bool AuditPolicy::ResourcePattern::Matches(const RequestInfo& request) const {
  switch (shape) {
    case Shape::kAll:
      return true;
    case Shape::kResource:
      return request.subresource.empty() && request.resource == resource;
    case Shape::kExact:
      return request.subresource == subresource && request.resource == resource;
    case Shape::kSubresource:
      return !request.subresource.empty() && request.subresource == subresource;
    case Shape::kWithSubresources:
      return request.resource == resource;
  }
  return false;
}

bool AuditPolicy::GroupResources::Matches(const RequestInfo& request) const {
  if (group != request.group) return false;
  if (resources.empty()) return true;
  if (!names.empty() && !names.Contains(request.name)) return false;
  return std::any_of(resources.begin(), resources.end(),
                     [&](const ResourcePattern& pattern) { return pattern.Matches(request); });
}

bool AuditPolicy::Rule::Matches(const UserInfo& user, const RequestInfo& request) const {
  if (!users.empty() && !users.Contains(user.name)) return false;
  if (!groups.empty() &&
      std::none_of(user.groups.begin(), user.groups.end(),
                   [&](const std::string& group) { return groups.Contains(group); })) {
    return false;
  }
  if (!verbs.empty() && !verbs.Contains(request.verb)) return false;
  if (!namespaces.empty() || !resources.empty()) {
    if (!request.is_resource) return false;
    // Cluster-scoped resources have the empty namespace.
    if (!namespaces.empty() && !namespaces.Contains(request.namespace_)) return false;
    return resources.empty() ||
           std::any_of(resources.begin(), resources.end(),
                       [&](const GroupResources& some) { return some.Matches(request); });
  }
  if (paths.empty()) return true;
  return !request.is_resource &&
         std::any_of(paths.begin(), paths.end(), [&](const std::string& pattern) {
           return PathMatches(request.path, pattern);
         });
}

AuditDecision AuditPolicy::Decide(const UserInfo& user, const RequestInfo& request) const {
  for (const Rule& rule : rules_) {
    if (rule.Matches(user, request)) return rule.decision;
  }
  return otherwise_;
}

// Parses the document into the compiled form.
class PolicyReader {
 public:
  static AuditPolicy Read(const ConfigObject& root) {
    AuditPolicy policy;
    root.Raw("metadata");  // irrelevant for auditing
    policy.otherwise_.omitted = Stages(root);
    policy.otherwise_.omit_managed_fields = root.Bool("omitManagedFields");
    const std::vector<ConfigObject> rules = root.Objects("rules");
    if (rules.empty()) root.Fail("rules", "at least one rule is required");
    for (const ConfigObject& rule : rules) {
      policy.rules_.push_back(ReadRule(rule, policy.otherwise_));
    }
    return policy;
  }

 private:
  static AuditStages Stages(const ConfigObject& object) {
    AuditStages stages;
    for (const std::string& name : object.Strings("omitStages")) {
      const auto* at = std::find(std::begin(kStages), std::end(kStages), name);
      if (at == std::end(kStages)) {
        object.Fail("omitStages",
                    "unsupported value " + Quote(name) + ", must be one of " + Join(kStages, ", "));
      } else {
        stages.Add(static_cast<AuditStage>(at - std::begin(kStages)));
      }
    }
    return stages;
  }

  static AuditLevel Level(const ConfigObject& rule) {
    const std::string name = rule.RequiredString("level");
    const auto* at = std::find(std::begin(kLevels), std::end(kLevels), name);
    if (at != std::end(kLevels)) return static_cast<AuditLevel>(at - std::begin(kLevels));
    if (!name.empty()) {
      rule.Fail("level",
                "unsupported value " + Quote(name) + ", must be one of " + Join(kLevels, ", "));
    }
    return AuditLevel::kNone;
  }

  static AuditPolicy::Rule ReadRule(const ConfigObject& from, const AuditDecision& defaults) {
    AuditPolicy::Rule rule;
    rule.decision.level = Level(from);
    rule.decision.omitted = defaults.omitted;
    rule.decision.omitted.Add(Stages(from));
    rule.decision.omit_managed_fields =
        from.Bool("omitManagedFields", defaults.omit_managed_fields);
    rule.users = AuditPolicy::Names(from.Strings("users"));
    rule.groups = AuditPolicy::Names(from.Strings("userGroups"));
    rule.verbs = AuditPolicy::Names(from.Strings("verbs"));
    rule.namespaces = AuditPolicy::Names(from.Strings("namespaces"));
    for (const ConfigObject& some : from.Objects("resources")) {
      rule.resources.push_back(ReadResources(some));
    }
    rule.paths = from.Strings("nonResourceURLs");
    CheckPaths(from, rule);
    return rule;
  }

  static AuditPolicy::GroupResources ReadResources(const ConfigObject& from) {
    AuditPolicy::GroupResources some;
    some.group = from.String("group");
    if (some.group.find('/') != std::string::npos) {
      from.Fail("group", "must be the name of an API group, without a version");
    }
    const std::vector<std::string> resources = from.Strings("resources");
    for (const std::string& resource : resources) some.resources.emplace_back(resource);
    some.names = AuditPolicy::Names(from.Strings("resourceNames"));
    if (!some.names.empty() && resources.empty()) {
      from.Fail("resourceNames", "using resourceNames requires at least one resource");
    }
    return some;
  }

  static void CheckPaths(const ConfigObject& from, const AuditPolicy::Rule& rule) {
    if (rule.paths.empty()) return;
    if (!rule.resources.empty() || !rule.namespaces.empty()) {
      from.Fail("nonResourceURLs",
                "rules cannot apply to both regular resources and non-resource URLs");
    }
    for (const std::string& path : rule.paths) {
      if (path == "*") continue;
      if (!path.starts_with('/')) {
        from.Fail("nonResourceURLs", "non-resource URL rules must begin with a '/' character");
      }
      if (const size_t star = path.find('*');
          star != std::string::npos && star + 1 != path.size()) {
        from.Fail("nonResourceURLs",
                  "non-resource URL wildcards '*' must be the final character of the rule");
      }
    }
  }
};

Result<AuditPolicy> AuditPolicy::Parse(std::string_view text) {
  COX_ASSIGN_OR_RETURN(ConfigDocument document,
                       ConfigDocument::Parse(text, "Policy", {"audit.k8s.io/v1"}));
  AuditPolicy policy = PolicyReader::Read(document.root());
  COX_RETURN_IF_ERROR(document.Finish());
  return policy;
}

}  // namespace cox::apiserver
