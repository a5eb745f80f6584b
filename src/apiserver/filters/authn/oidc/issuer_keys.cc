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
  if (!started.ok()) COX_ERROR(ctx.log(), started, "The keys of an issuer cannot be read");
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
      COX_V(log, 2, "Read the keys of an issuer of tokens", {"keys", (*read)->size()});
      keys_.Store(*read);
    } else {
      COX_ERROR(log, read.status(), "Could not read the keys of an issuer of tokens");
    }
    {
      MutexLock lock(mu_);
      ++rounds_;
      asked_ = false;
      next_ = clock_.In(kLeast);
      changed_.NotifyAll();
      // Asked or not, it is time again after a while.
      Context pause = ctx.WithTimeout(read.ok() ? Clock::Duration(kReadAgain) : kRetry);
      (void)pause.Await(mu_, changed_, [this]() COX_REQUIRES(mu_) { return asked_; });
    }
  }
}

JwkSetPtr IssuerKeys::Refresh(const Context& ctx) {
  Context limit = ctx.WithTimeout(kTimeout);
  MutexLock lock(mu_);
  // In the first round nobody was asked before.
  const bool may_ask = rounds_ == 0 || asked_ || clock_.Monotonic() >= next_;
  if (may_ask && waiting_ < kMaxWaiting) {
    const uint64_t seen = rounds_;
    asked_ = true;
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
  // Whoever answers there must say that it is the one we asked for.
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
