// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/impersonation/impersonation.h"

#include <vector>

#include "apiserver/filters/authn/service_account/claims.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kUserHeader = "impersonate-user";
constexpr std::string_view kGroupHeader = "impersonate-group";
constexpr std::string_view kUidHeader = "impersonate-uid";
constexpr std::string_view kExtraPrefix = "impersonate-extra-";
constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
constexpr std::string_view kNodePrefix = "system:node:";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr size_t kMaxPlainUsers = 1024;

// Reads the impersonation headers.
UserInfo ReadHeaders(const net::Headers& headers) {
  UserInfo wanted;
  wanted.name = headers.Get(kUserHeader).value_or("");
  wanted.uid = headers.Get(kUidHeader).value_or("");
  for (std::string_view group : headers.All(kGroupHeader)) wanted.groups.emplace_back(group);
  for (const auto& [name, value] : headers) {
    if (!name.starts_with(kExtraPrefix)) continue;
    const std::string_view raw = std::string_view(name).substr(kExtraPrefix.size());
    std::string key = PercentDecode(raw, /*plus_is_space=*/false).value_or(std::string(raw));
    for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    wanted.extra[std::move(key)].push_back(value);
  }
  return wanted;
}

bool IsEmpty(const UserInfo& wanted) {
  return wanted.name.empty() && wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty();
}

// []string{"a", "b"}, Go's format.
std::string GoStrings(const std::vector<std::string>& items) {
  if (items.empty()) return "[]string(nil)";
  std::string text = "[]string{";
  for (size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + Quote(items[i]);
  return text + "}";
}

Status NoName(const UserInfo& wanted) {
  std::string extra = "map[string][]string(nil)";
  if (!wanted.extra.empty()) {
    extra = "map[string][]string{";
    bool first = true;
    for (const auto& [key, values] : wanted.extra) {
      extra += (first ? "" : ", ") + Quote(key) + ":" + GoStrings(values);
      first = false;
    }
    extra += "}";
  }
  return Status::BadRequest("requested &user.DefaultInfo{Name:\"\", UID:" + Quote(wanted.uid) +
                            ", Groups:" + GoStrings(wanted.groups) + ", Extra:" + extra +
                            "} without impersonating a user name");
}

RequestInfo AttributesFor(std::string_view verb, std::string_view group, std::string_view resource,
                          std::string_view name) {
  RequestInfo attributes;
  attributes.is_resource = true;
  attributes.verb = verb;
  attributes.group = group;
  attributes.version = "v1";
  attributes.resource = resource;
  attributes.name = name;
  return attributes;
}

// The checks that both modes share.
void AddUidAndExtra(std::string_view verb, const UserInfo& wanted,
                    std::vector<RequestInfo>& checks) {
  for (const auto& [key, values] : wanted.extra) {
    for (const std::string& value : values) {
      checks.push_back(AttributesFor(verb, kAuthenticationGroup, "userextras", value));
      checks.back().subresource = key;
    }
  }
  if (!wanted.uid.empty())
    checks.push_back(AttributesFor(verb, kAuthenticationGroup, "uids", wanted.uid));
}

bool IsNode(const UserInfo& wanted) { return wanted.name.starts_with(kNodePrefix); }

// Adds the groups that a name implies, unless groups were requested.
void Complete(UserInfo& wanted) {
  if (wanted.groups.empty()) {
    if (const auto account = ParseServiceAccountUser(wanted.name)) {
      wanted.groups = ServiceAccountGroups(account->ns);
    }
  }
  const std::string_view group =
      wanted.name == kAnonymousUser ? kUnauthenticatedGroup : kAuthenticatedGroup;
  if (!wanted.InGroup(kAuthenticatedGroup) && !wanted.InGroup(kUnauthenticatedGroup)) {
    wanted.groups.emplace_back(group);
  }
}

}  // namespace

Status Impersonation::CheckAllowed(const UserInfo& user, const RequestInfo& attributes) const {
  return StatusOf(authorizer_.Authorize(user, attributes), user, attributes);
}

Status Impersonation::Constrained(const UserInfo& user, const UserInfo& wanted,
                                  const RequestInfo& info) const {
  const std::optional<ServiceAccountName> account = ParseServiceAccountUser(wanted.name);
  const std::string mode = account          ? "serviceaccount"
                           : IsNode(wanted) ? "arbitrary-node"
                                            : "user-info";
  RequestInfo target = info;
  target.verb = "impersonate-on:" + mode + ":" + info.verb;
  COX_RETURN_IF_ERROR(CheckAllowed(user, target));
  const std::string verb = "impersonate:" + mode;
  std::vector<RequestInfo> checks;
  if (account) {
    checks.push_back(AttributesFor(verb, kAuthenticationGroup, "serviceaccounts", account->name));
    checks.back().namespace_ = account->ns;
  } else if (IsNode(wanted)) {
    checks.push_back(AttributesFor(verb, kAuthenticationGroup, "nodes",
                                   std::string_view(wanted.name).substr(kNodePrefix.size())));
  } else {
    checks.push_back(AttributesFor(verb, kAuthenticationGroup, "users", wanted.name));
  }
  for (const std::string& group : wanted.groups) {
    if (IsNode(wanted) && group == kNodesGroup) continue;  // implied by the node name
    checks.push_back(AttributesFor(verb, kAuthenticationGroup, "groups", group));
  }
  AddUidAndExtra(verb, wanted, checks);
  for (const RequestInfo& attributes : checks) COX_RETURN_IF_ERROR(CheckAllowed(user, attributes));
  return {};
}

Status Impersonation::Plain(const UserInfo& user, const UserInfo& wanted) const {
  constexpr std::string_view kVerb = "impersonate";
  std::vector<RequestInfo> checks;
  if (const auto account = ParseServiceAccountUser(wanted.name)) {
    checks.push_back(AttributesFor(kVerb, "", "serviceaccounts", account->name));
    checks.back().namespace_ = account->ns;
  } else {
    checks.push_back(AttributesFor(kVerb, "", "users", wanted.name));
  }
  for (const std::string& group : wanted.groups) {
    checks.push_back(AttributesFor(kVerb, "", "groups", group));
  }
  AddUidAndExtra(kVerb, wanted, checks);
  for (const RequestInfo& attributes : checks) COX_RETURN_IF_ERROR(CheckAllowed(user, attributes));
  return {};
}

Result<UserInfo> Impersonation::Apply(const net::Request& request, const RequestInfo& info,
                                      const UserInfo& user) const {
  UserInfo wanted = ReadHeaders(request.headers);
  if (IsEmpty(wanted)) return user;
  if (wanted.name.empty()) return NoName(wanted);
  const Status constrained = Constrained(user, wanted, info);
  if (!constrained.ok()) {
    const Status plain = Plain(user, wanted);
    MutexLock lock(mu_);
    if (!plain.ok()) return plain_users_.contains(user.name) ? plain : constrained;
    if (plain_users_.size() >= kMaxPlainUsers) plain_users_.clear();
    plain_users_.insert(user.name);
  }
  Complete(wanted);
  return wanted;
}

void RemoveImpersonationHeaders(net::Headers& headers) {
  std::vector<std::string> names;
  for (const auto& [name, value] : headers) {
    if (name.starts_with("impersonate-")) names.push_back(name);
  }
  for (const std::string& name : names) headers.Remove(name);
}

}  // namespace cox::apiserver
