// SPDX-License-Identifier: Apache-2.0
#include "cmd/component/delegated_auth.h"

#include "api/authentication/v1.h"
#include "api/authorization/v1.h"

namespace cox::cmd {
namespace {

constexpr std::chrono::seconds kHolds{10};
// Limits the memory that requests with random tokens can use.
constexpr size_t kMaxResults = 64;

bool IsProbe(std::string_view path) {
  for (const std::string_view open : {"/healthz", "/livez", "/readyz"}) {
    if (path == open || (path.starts_with(open) && path[open.size()] == '/')) return true;
  }
  return false;
}

std::string BearerToken(const net::Request& request) {
  const std::string_view value = request.headers.Get("authorization").value_or("");
  constexpr std::string_view kScheme = "Bearer ";
  return value.starts_with(kScheme) ? std::string(value.substr(kScheme.size())) : std::string();
}

}  // namespace

Result<Client*> DelegatedAuth::Connected() {
  MutexLock lock(mu_);
  if (client_ == nullptr) {
    COX_ASSIGN_OR_RETURN(client_, Connect(ctx_, config_));
  }
  return client_.get();
}

Status DelegatedAuth::Check(Context& ctx, const net::Request& request) {
  const std::string path(request.path());
  if (IsProbe(path)) return {};
  const std::string token = BearerToken(request);
  if (token.empty()) return Status(Reason::kUnauthorized, "Unauthorized");
  const std::pair key(token, path);
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  {
    MutexLock lock(mu_);
    const auto known = results_.find(key);
    if (known != results_.end() && now < known->second.until) return known->second.status;
  }
  COX_ASSIGN_OR_RETURN(Client* const client, Connected());
  const Status status = SendReviews(ctx, *client, token, path);
  if (!status.ok() && !status.Is(Reason::kUnauthorized) && !status.Is(Reason::kForbidden)) {
    return status;  // not cached
  }
  MutexLock lock(mu_);
  if (results_.size() >= kMaxResults) results_.clear();
  results_[key] = {status, now + kHolds};
  return status;
}

Status DelegatedAuth::SendReviews(Context& ctx, Client& client, const std::string& token,
                                  std::string_view path) {
  authentication::v1::TokenReview who;
  who.spec.token = token;
  COX_ASSIGN_OR_RETURN(who, client.Create(ctx, std::move(who)));
  if (!who.status.authenticated) return Status(Reason::kUnauthorized, "Unauthorized");
  authorization::v1::SubjectAccessReview may;
  may.spec.user = who.status.user.username;
  may.spec.uid = who.status.user.uid;
  may.spec.groups = who.status.user.groups;
  for (const auto& [name, values] : who.status.user.extra) may.spec.extra[name] = values;
  may.spec.nonResourceAttributes.emplace();
  may.spec.nonResourceAttributes->path = path;
  may.spec.nonResourceAttributes->verb = "get";
  COX_ASSIGN_OR_RETURN(may, client.Create(ctx, std::move(may)));
  if (may.status.allowed) return {};
  return Status::Forbidden("User \"" + may.spec.user + "\" cannot get path \"" + std::string(path) +
                           "\"");
}

}  // namespace cox::cmd
