// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/payload/tokens.h"

#include <algorithm>

#include "api/authentication/v1.h"
#include "coxswain/subresources.h"

namespace cox::kubelet {

using std::chrono::hours;
using std::chrono::minutes;

Clock::WallTime RefreshTime(Clock::WallTime issued, Clock::WallTime expires) {
  const auto life = std::max<Clock::WallTime::duration>(expires - issued, {});
  return issued + std::min<Clock::WallTime::duration>(life * 4 / 5, hours(24));
}

Result<Token> Tokens::Get(Context& ctx, const core::v1::Pod& pod, const std::string& audience,
                          int64_t seconds) {
  const Key key{pod.metadata.uid, audience, seconds};
  const Clock::WallTime now = ctx.clock().Now();
  std::optional<Entry> old;
  {
    MutexLock lock(mu_);
    if (const auto found = tokens_.find(key); found != tokens_.end()) old = found->second;
  }
  if (old && now < old->token.refresh) return old->token;

  authentication::v1::TokenRequestSpec spec;
  if (!audience.empty()) spec.audiences = {audience};
  spec.expirationSeconds = seconds;
  spec.boundObjectRef = authentication::v1::BoundObjectReference{
      .kind = "Pod", .apiVersion = "v1", .name = pod.metadata.name, .uid = pod.metadata.uid};
  const std::string& account =
      pod.spec.serviceAccountName.empty() ? "default" : pod.spec.serviceAccountName;
  Result<authentication::v1::TokenRequest> answer =
      CreateToken(ctx, client_, {pod.metadata.namespace_, account}, std::move(spec));
  if (!answer.ok()) {
    if (!old || now >= old->expires) return answer.status().WithContext("failed to fetch token");
    COX_ERROR(ctx.log(), answer.status(), "Could not renew token, using the old one",
              {"pod", pod.metadata.namespace_ + "/" + pod.metadata.name});
    old->token.refresh = now + minutes(1);
    return old->token;
  }
  const Clock::WallTime expires(
      std::chrono::seconds(answer->status.expirationTimestamp.unix_seconds()));
  Entry entry{.token = {answer->status.token, RefreshTime(now, expires)}, .expires = expires};
  MutexLock lock(mu_);
  tokens_[key] = entry;
  return entry.token;
}

void Tokens::Forget(const std::string& uid) {
  MutexLock lock(mu_);
  std::erase_if(tokens_, [&uid](const auto& entry) { return std::get<0>(entry.first) == uid; });
}

}  // namespace cox::kubelet
