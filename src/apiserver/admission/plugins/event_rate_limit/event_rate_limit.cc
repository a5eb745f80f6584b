// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/event_rate_limit/event_rate_limit.h"

#include "api/core/v1.h"
#include "apiserver/config/config_reader.h"
#include "base/check.h"
#include "base/lru_map.h"
#include "base/mutex.h"
#include "base/token_bucket.h"

namespace cox::apiserver {
namespace {

using core::v1::Event;

struct Limit {
  std::string type;  // Server, Namespace, User, SourceAndObject
  double qps;
  double burst;
  size_t cache_size;  // maximum number of keys
};

Result<std::vector<Limit>> ReadLimits(const Value* config) {
  std::vector<Limit> limits;
  if (config == nullptr) return limits;
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Of(*config, "Configuration", {"eventratelimit.admission.k8s.io/v1alpha1"}));
  constexpr int64_t kMax = 1'000'000'000;
  constexpr int64_t kUsualCache = 4096, kLargestCache = 1'000'000;
  for (const ConfigObject& entry : document.root().Objects("limits")) {
    const int64_t cache = entry.Int("cacheSize", 0, 0, kLargestCache);
    limits.push_back(
        {.type = entry.Choice("type", {"Server", "Namespace", "User", "SourceAndObject"}),
         .qps = static_cast<double>(entry.Int("qps", 0, 1, kMax)),
         .burst = static_cast<double>(entry.Int("burst", 0, 1, kMax)),
         .cache_size = static_cast<size_t>(cache == 0 ? kUsualCache : cache)});
    for (const char* required : {"type", "qps", "burst"}) {
      if (!entry.Has(required)) entry.Fail(required, "is required");
    }
  }
  if (limits.empty()) document.root().Fail("limits", "must not be empty");
  COX_RETURN_IF_ERROR(document.Finish());
  return limits;
}

// Token buckets by key, in an LRU cache, which bounds the memory. An evicted bucket is full again,
// but keys with many events are not evicted.
class Buckets {
 public:
  explicit Buckets(Limit limit) : limit_(std::move(limit)), by_key_(limit_.cache_size) {}

  const std::string& type() const { return limit_.type; }

  bool TryTake(const std::string& key, Clock::SteadyTime now) COX_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    TokenBucket* bucket = by_key_.Find(key);
    if (bucket == nullptr) bucket = by_key_.Put(key, TokenBucket(limit_.qps, limit_.burst));
    return bucket->Take(now) == Clock::Duration::zero();
  }

 private:
  const Limit limit_;
  Mutex mu_;
  LruMap<TokenBucket> by_key_ COX_GUARDED_BY(mu_);
};

// Rejects Events above a rate limit, before they fill the storage.
class EventRateLimit final : public AdmissionPlugin {
 public:
  explicit EventRateLimit(std::vector<Limit> limits) {
    for (Limit& limit : limits) buckets_.push_back(std::make_unique<Buckets>(std::move(limit)));
  }

  std::string_view name() const override { return "EventRateLimit"; }

  Status Validate(Context& ctx, const AdmissionRequest& request) const override {
    if (request.object == nullptr || request.dry_run) return {};
    const Event* event = request.object->As<Event>();
    if (event == nullptr) return {};
    Status refused;
    // All limits are checked, even after one has rejected the event: each one counts all events.
    for (const auto& buckets : buckets_) {
      const std::string key = KeyOf(buckets->type(), request, *event);
      if (!buckets->TryTake(key, ctx.clock().Monotonic())) {
        refused = Status(Reason::kTooManyRequests, "Too many requests: limit reached on type " +
                                                       buckets->type() + " for key " + key);
      }
    }
    return refused;
  }

 private:
  static std::string KeyOf(const std::string& type, const AdmissionRequest& request,
                           const Event& event) {
    if (type == "Namespace") return request.ns;
    if (type == "User") return request.user.name;
    if (type == "Server") return {};
    const core::v1::ObjectReference& about = event.involvedObject;
    return event.source.component + event.source.host + about.kind + about.namespace_ + about.name +
           about.uid + about.apiVersion;
  }

  std::vector<std::unique_ptr<Buckets>> buckets_;
};

}  // namespace

Status CheckEventRateLimitConfig(const Value& config) { return ReadLimits(&config).status(); }

std::unique_ptr<const AdmissionPlugin> NewEventRateLimit(const AdmissionParts& parts) {
  Result<std::vector<Limit>> limits = ReadLimits(parts.ConfigOf("EventRateLimit"));
  COX_CHECK(limits.ok());
  return std::make_unique<EventRateLimit>(std::move(*limits));
}

}  // namespace cox::apiserver
