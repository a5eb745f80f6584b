// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/auth/authorization.h"

#include "api/authorization/v1.h"
#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::kubelet {
namespace {

using authorization::v1::SubjectAccessReview;

constexpr std::chrono::seconds kTimeout{10};

struct Rule {
  std::string_view path;  // matches the path and everything below it
  std::string_view subresource;
  bool proxy_too;  // nodes/proxy also grants access
};
constexpr Rule kRules[] = {
    {"/stats", "stats", false},     {"/metrics", "metrics", false},
    {"/logs", "log", false},        {"/checkpoint", "checkpoint", false},
    {"/statusz", "statusz", false}, {"/flagz", "flagz", false},
    {"/pods", "pods", true},        {"/runningpods", "pods", true},
    {"/healthz", "healthz", true},  {"/configz", "configz", true},
};

bool IsBelow(std::string_view path, std::string_view root) {
  return path == root || (path.starts_with(root) && path[root.size()] == '/');
}

std::string_view VerbOf(std::string_view method) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return "delete";
  return "get";
}

}  // namespace

Attributes AttributesOf(std::string_view method, std::string_view path) {
  Attributes attributes{std::string(VerbOf(method)), {}};
  for (const Rule& rule : kRules) {
    if (!IsBelow(path, rule.path)) continue;
    attributes.subresources.emplace_back(rule.subresource);
    if (!rule.proxy_too) return attributes;
  }
  attributes.subresources.emplace_back("proxy");
  return attributes;
}

Authorization::Authorization(AuthorizationOptions options, std::string node, Client* client)
    : options_(std::move(options)), node_(std::move(node)), client_(client) {}

Status Authorization::Authorize(Context& ctx, const User& user, std::string_view method,
                                std::string_view path) {
  if (options_.mode == "AlwaysAllow") return {};
  const Attributes attributes = AttributesOf(method, path);
  for (const std::string& subresource : attributes.subresources) {
    COX_ASSIGN_OR_RETURN(const bool allowed, SendReview(ctx, user, attributes.verb, subresource));
    if (allowed) return {};
  }
  return Status::Forbidden("Forbidden (user=" + user.username + ", verb=" + attributes.verb +
                           ", resource=nodes, subresource(s)=[" +
                           Join(attributes.subresources, " ") + "])\n");
}

Result<bool> Authorization::SendReview(Context& ctx, const User& user, const std::string& verb,
                                       const std::string& subresource) {
  SubjectAccessReview review;
  review.spec.user = user.username;
  review.spec.uid = user.uid;
  review.spec.groups = user.groups;
  for (const auto& [key, values] : user.extra) review.spec.extra[key] = values;
  auto& resource = review.spec.resourceAttributes.emplace();
  resource.verb = verb;
  resource.version = "v1";
  resource.resource = "nodes";
  resource.subresource = subresource;
  resource.name = node_;
  const std::string key = json::Write(json::ToValue(review.spec));
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  {
    MutexLock lock(mu_);
    const CachedDecision* known = known_.Find(key);
    if (known != nullptr && known->until > now) return known->allowed;
  }
  if (client_ == nullptr) return false;
  Context limit = ctx.WithTimeout(kTimeout);
  const Result<SubjectAccessReview> answer = client_->Create(limit, std::move(review));
  if (!answer.ok()) {
    COX_V(ctx.log(), 1, "SubjectAccessReview failed", {"why", answer.status().message()});
    return Status::Internal("Authorization error (user=" + user.username + ", verb=" + verb +
                            ", resource=nodes, subresource=" + subresource + ")");
  }
  const bool allowed = answer->status.allowed;
  MutexLock lock(mu_);
  known_.Put(key, {allowed, now + (allowed ? options_.allowed_ttl : options_.refused_ttl)});
  return allowed;
}

}  // namespace cox::kubelet
