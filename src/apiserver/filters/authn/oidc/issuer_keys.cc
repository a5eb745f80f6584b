// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/oidc/issuer_keys.h"

#include "base/log.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kWellKnown = "/.well-known/openid-configuration";

std::string DiscoveryUrl(const std::string& issuer, std::string discovery_url) {
  if (!discovery_url.empty()) return discovery_url;
  std::string url = issuer;
  if (url.ends_with('/')) url.pop_back();
  return url.append(kWellKnown);
}

std::string_view Text(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

}  // namespace

IssuerKeys::IssuerKeys(const Context& ctx, std::string issuer, std::string discovery_url,
                       Fetch fetch)
    : issuer_(std::move(issuer)),
      discovery_url_(DiscoveryUrl(issuer_, std::move(discovery_url))),
      fetch_(std::move(fetch)),
      clock_(ctx.clock()),
      scope_(ctx, "oidc") {
  const Status started = scope_.Go("oidc-keys", [this](Context& inner) { Run(inner); });
  if (!started.ok()) COX_ERROR(ctx.log(), started, "Could not start reading OIDC issuer keys");
}

IssuerKeys::~IssuerKeys() {
  scope_.Stop();
  scope_.Wait();
}

void IssuerKeys::Run(Context& ctx) {
  const Logger log = ctx.log().With({{"issuer", issuer_}});
  while (!ctx.Done()) {
    Result<JwkSetPtr> read = Read(ctx.WithTimeout(kTimeout));
    if (ctx.Done()) return;
    if (read.ok()) {
      COX_V(log, 2, "Read OIDC issuer keys", {"keys", (*read)->size()});
      keys_.Store(*read);
    } else {
      COX_ERROR(log, read.status(), "Could not read OIDC issuer keys");
    }
    {
      MutexLock lock(mu_);
      ++rounds_;
      requested_ = false;
      next_ = clock_.In(kLeast);
      changed_.NotifyAll();
      // Refresh periodically even without requests.
      Context pause = ctx.WithTimeout(read.ok() ? Clock::Duration(kReadAgain) : kRetry);
      (void)pause.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return requested_; });
    }
  }
}

JwkSetPtr IssuerKeys::Refresh(const Context& ctx) {
  Context limit = ctx.WithTimeout(kTimeout);
  MutexLock lock(mu_);
  // Calls during the first read are not rate-limited.
  const bool may_request = rounds_ == 0 || requested_ || clock_.Monotonic() >= next_;
  if (may_request && waiting_ < kMaxWaiting) {
    const uint64_t seen = rounds_;
    requested_ = true;
    changed_.NotifyAll();
    ++waiting_;
    (void)limit.Await(mu_, changed_, [this, seen]() COX_REQUIRES(mu_) { return rounds_ > seen; });
    --waiting_;
  }
  return keys_.Load();
}

Result<JwkSetPtr> IssuerKeys::Read(const Context& ctx) const {
  COX_ASSIGN_OR_RETURN(const std::string text, fetch_(ctx, discovery_url_));
  const Result<Value> document = json::Parse(text);
  if (!document.ok() || !document->is_object()) {
    return Status::BadRequest("the issuer's configuration is no JSON object");
  }
  // The discovery document must name the configured issuer.
  if (Text(*document, "issuer") != issuer_) {
    return Status::BadRequest("the issuer calls itself another than it was configured as");
  }
  const std::string keys_url(Text(*document, "jwks_uri"));
  if (!keys_url.starts_with("https://")) {
    return Status::BadRequest("the issuer's jwks_uri is no https URL");
  }
  COX_ASSIGN_OR_RETURN(const std::string keys, fetch_(ctx, keys_url));
  return JwkSet::Parse(keys);
}

}  // namespace cox::apiserver
