// SPDX-License-Identifier: Apache-2.0
#include "coxswain/cache.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/mutex.h"
#include "base/notification.h"
#include "base/scope.h"
#include "sdk/cache/reflector.h"
#include "sdk/cache/resource_informer.h"
#include "sdk/cache/write_through.h"

namespace cox {
namespace sdk {
namespace {

class SharedCache final : public Cache {
 public:
  SharedCache(const Context& ctx, Client& client, CacheOptions options, MetricsRegistry* metrics);
  ~SharedCache() override;

  std::shared_ptr<SharedInformer> Get(const Resource& resource) override {
    return Ensure(resource, false);
  }
  std::shared_ptr<SharedInformer> GetMetadata(const Resource& resource) override {
    return Ensure(resource, true);
  }
  std::shared_ptr<SharedInformer> Find(const Resource& resource) const override;
  void Remove(const Resource& resource) override;
  Status WaitForSync(Context& ctx) override;
  void AddNamespace(const std::string& ns) override;
  void RemoveNamespace(const std::string& ns) override;
  std::unique_ptr<Client> WritingThrough(Client& client) override;

 private:
  // Key of a shared informer: a resource in one representation.
  enum class Form : uint8_t { kStruct, kJson, kMetadata };
  using Id = std::tuple<GroupVersionKind, std::string, Form>;
  using Informers = std::vector<std::shared_ptr<ResourceInformer>>;

  struct Feed {
    ResourceInformer::FeedId id;
    std::unique_ptr<Scope> scope;
  };
  struct Running {
    std::shared_ptr<ResourceInformer> informer;
    std::map<std::string, Feed> feeds;  // by namespace; "" for all
  };

  static Id IdOf(const Resource& resource, bool metadata_only) {
    const Form form = metadata_only              ? Form::kMetadata
                      : resource.info != nullptr ? Form::kStruct
                                                 : Form::kJson;
    return {resource.gvk, resource.plural, form};
  }
  std::shared_ptr<ResourceInformer> Ensure(const Resource& resource, bool metadata_only);
  CacheScope ScopeOf(const Resource& resource) const COX_REQUIRES(mu_);
  void StartFeed(Running& running, const std::string& ns) COX_REQUIRES(mu_);
  // Stops the feed. Its thread is joined later, because the caller may be that thread.
  ResourceInformer::FeedId StopFeed(Feed feed) COX_REQUIRES(mu_);
  Informers All() const;
  Informers Of(const Resource& resource) const;
  void ResyncLoop(Context& ctx);
  void Emit(const EmitSample& emit, size_t (ResourceInformer::*read)() const) const;

  const CacheOptions options_;
  Client& client_;
  std::unique_ptr<ReflectorMetrics> metrics_;
  const std::shared_ptr<Notification> resync_changed_ = std::make_shared<Notification>();

  mutable Mutex mu_;
  std::map<Id, Running> running_ COX_GUARDED_BY(mu_);
  // Namespaces added (true) or removed at run time, for informers created later.
  std::map<std::string, bool> namespaces_ COX_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Scope>> ended_ COX_GUARDED_BY(mu_);

  std::vector<MetricHandle> gauges_;
  Scope scope_;
};

SharedCache::SharedCache(const Context& ctx, Client& client, CacheOptions options,
                         MetricsRegistry* metrics)
    : options_(std::move(options)), client_(client), scope_(ctx, "cache") {
  (void)scope_.Go("cache-resync", [this](Context& work) { ResyncLoop(work); });
  if (metrics == nullptr) return;
  metrics_ = std::make_unique<ReflectorMetrics>(*metrics);
  const std::vector<std::string> labels = {"group", "version", "kind"};
  gauges_.push_back(metrics->AddGaugeCallback(
      {"cache_bytes", "What the objects that a cache keeps take in memory, about"}, labels,
      [this](const EmitSample& emit) { Emit(emit, &ResourceInformer::bytes); }));
  gauges_.push_back(metrics->AddGaugeCallback(
      {"cache_objects", "How many objects a cache keeps"}, labels,
      [this](const EmitSample& emit) { Emit(emit, &ResourceInformer::size); }));
  gauges_.push_back(metrics->AddCounterCallback(
      {"cache_objects_listed_total", "How many objects readers of a cache have received in lists"},
      labels, [this](const EmitSample& emit) { Emit(emit, &ResourceInformer::listed); }));
}

SharedCache::~SharedCache() {
  gauges_.clear();
  scope_.Stop();
  std::vector<std::unique_ptr<Scope>> ended;
  Informers informers;
  {
    MutexLock lock(mu_);
    for (auto& [id, running] : running_) {
      for (auto& [ns, feed] : running.feeds) StopFeed(std::move(feed));
      informers.push_back(running.informer);
    }
    running_.clear();
    ended.swap(ended_);
  }
  ended.clear();  // joins without the lock, because handlers may call Get
  for (const auto& informer : informers) informer->End();
}

std::shared_ptr<ResourceInformer> SharedCache::Ensure(const Resource& resource,
                                                      bool metadata_only) {
  MutexLock lock(mu_);
  Running& running = running_[IdOf(resource, metadata_only)];
  if (running.informer != nullptr) return running.informer;
  const CacheScope scope = ScopeOf(resource);
  running.informer = std::make_shared<ResourceInformer>(
      resource, metadata_only, scope, scope_.context().clock(), options_.resync, resync_changed_);
  if (scope.namespaces.empty()) {
    StartFeed(running, "");
    return running.informer;
  }
  std::vector<std::string> namespaces = scope.namespaces;
  for (const auto& [ns, added] : namespaces_) {
    std::erase(namespaces, ns);
    if (added) namespaces.push_back(ns);
  }
  for (const std::string& ns : namespaces) StartFeed(running, ns);
  return running.informer;
}

CacheScope SharedCache::ScopeOf(const Resource& resource) const {
  CacheScope scope = options_.defaults;
  for (const auto& [which, own] : options_.by_resource) {
    if (which == resource) scope = own;
  }
  if (!resource.namespaced) scope.namespaces.clear();
  return scope;
}

void SharedCache::StartFeed(Running& running, const std::string& ns) {
  if (running.feeds.contains(ns)) return;
  const std::shared_ptr<ResourceInformer> informer = running.informer;
  Feed feed{.id = informer->StartFeed(ns),
            .scope = std::make_unique<Scope>(scope_.context(), "reflector")};
  auto reflector =
      std::make_shared<Reflector>(client_, options_, informer, feed.id, ns, metrics_.get());
  const Status started =
      feed.scope->Go(informer->resource().plural,
                     [this, informer, reflector = std::move(reflector)](Context& ctx) {
                       reflector->Run(ctx);
                       if (scope_.stop_requested())
                         informer->End();  // otherwise only this feed ends
                     });
  if (!started.ok()) informer->End();
  running.feeds.emplace(ns, std::move(feed));
}

ResourceInformer::FeedId SharedCache::StopFeed(Feed feed) {
  feed.scope->Stop();
  std::erase_if(ended_, [](const std::unique_ptr<Scope>& scope) { return scope->done(); });
  ended_.push_back(std::move(feed.scope));
  return feed.id;
}

std::shared_ptr<SharedInformer> SharedCache::Find(const Resource& resource) const {
  MutexLock lock(mu_);
  const auto found = running_.find(IdOf(resource, false));
  return found == running_.end() ? nullptr : found->second.informer;
}

void SharedCache::Remove(const Resource& resource) {
  MutexLock lock(mu_);
  for (const bool metadata_only : {false, true}) {
    const auto found = running_.find(IdOf(resource, metadata_only));
    if (found == running_.end()) continue;
    for (auto& [ns, feed] : found->second.feeds) StopFeed(std::move(feed));
    found->second.informer->End();
    running_.erase(found);
  }
}

Status SharedCache::WaitForSync(Context& ctx) {
  for (const auto& informer : All()) COX_RETURN_IF_ERROR(informer->WaitSynced(ctx));
  return {};
}

void SharedCache::AddNamespace(const std::string& ns) {
  MutexLock lock(mu_);
  namespaces_[ns] = true;
  for (auto& [id, running] : running_) {
    if (!running.informer->scope().namespaces.empty()) StartFeed(running, ns);
  }
}

void SharedCache::RemoveNamespace(const std::string& ns) {
  std::vector<std::pair<std::shared_ptr<ResourceInformer>, ResourceInformer::FeedId>> ended;
  {
    MutexLock lock(mu_);
    namespaces_[ns] = false;
    for (auto& [id, running] : running_) {
      const auto feed = running.feeds.find(ns);
      if (ns.empty() || feed == running.feeds.end()) continue;
      ended.emplace_back(running.informer, StopFeed(std::move(feed->second)));
      running.feeds.erase(feed);
    }
  }
  for (const auto& [informer, feed] : ended) informer->EndFeed(feed);
}

SharedCache::Informers SharedCache::All() const {
  Informers out;
  MutexLock lock(mu_);
  for (const auto& [id, running] : running_) out.push_back(running.informer);
  return out;
}

SharedCache::Informers SharedCache::Of(const Resource& resource) const {
  Informers out;
  MutexLock lock(mu_);
  for (const Form form : {Form::kStruct, Form::kJson, Form::kMetadata}) {
    const auto found = running_.find({resource.gvk, resource.plural, form});
    if (found != running_.end()) out.push_back(found->second.informer);
  }
  return out;
}

std::unique_ptr<Client> SharedCache::WritingThrough(Client& client) {
  return MakeWriteThrough(client, [this](const Resource& resource) {
    const Informers informers = Of(resource);
    return std::vector<std::shared_ptr<SharedInformer>>(informers.begin(), informers.end());
  });
}

void SharedCache::ResyncLoop(Context& ctx) {
  while (!ctx.Done()) {
    Clock::SteadyTime next = Clock::kNever;
    for (const auto& informer : All()) next = std::min(next, informer->Resync());
    resync_changed_->AwaitUntil(ctx, next);
  }
}

void SharedCache::Emit(const EmitSample& emit, size_t (ResourceInformer::*read)() const) const {
  std::map<GroupVersionKind, size_t> sums;  // a kind may be cached both as objects and as metadata
  for (const auto& informer : All()) sums[informer->resource().gvk] += ((*informer).*read)();
  for (const auto& [gvk, sum] : sums) {
    emit({gvk.group, gvk.version, gvk.kind}, static_cast<double>(sum));
  }
}

}  // namespace
}  // namespace sdk

std::unique_ptr<Cache> Cache::Create(const Context& ctx, Client& client, CacheOptions options,
                                     MetricsRegistry* metrics) {
  return std::make_unique<sdk::SharedCache>(ctx, client, std::move(options), metrics);
}

}  // namespace cox
