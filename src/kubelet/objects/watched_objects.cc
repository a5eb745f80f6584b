// SPDX-License-Identifier: Apache-2.0
#include "kubelet/objects/watched_objects.h"

#include <vector>

#include "base/strings.h"

namespace cox::kubelet {

using core::v1::ConfigMap;
using core::v1::Pod;
using core::v1::Secret;

struct WatchedObjects::Watch {
  std::set<std::string> pods;            // guarded by WatchedObjects::mu_
  std::unique_ptr<CachedObject> object;  // constant
};

namespace {

Resource ResourceOf(ObjectReference::Kind kind) {
  return kind == ObjectReference::Kind::kSecret ? Resource::Of<Secret>()
                                                : Resource::Of<ConfigMap>();
}

bool IsImmutable(const Object& object) {
  if (const auto* secret = object.As<Secret>()) return secret->immutable.value_or(false);
  const auto* map = object.As<ConfigMap>();
  return map != nullptr && map->immutable.value_or(false);
}

CacheOptions Options() {
  CacheOptions options;
  options.page_size = 0;
  return options;
}

}  // namespace

WatchedObjects::WatchedObjects(const Context& ctx, Client& client, Changed changed)
    : client_(client),
      changed_(std::move(changed)),
      cache_(ObjectCache::Create(ctx, client, {.cache = Options(), .is_final = IsImmutable})) {}

WatchedObjects::~WatchedObjects() {
  std::map<ObjectReference, std::shared_ptr<Watch>> watches;
  MutexLock lock(mu_);
  watches.swap(watches_);
  lock.Unlock();
  watches.clear();  // waits for their handlers, which may be waiting for the lock
}

void WatchedObjects::Register(const Pod& pod) {
  const std::set<ObjectReference> wanted = ReferencesOf(pod);
  const std::string& uid = pod.metadata.uid;
  std::vector<std::shared_ptr<Watch>> dropped;  // destroyed without the lock
  MutexLock lock(mu_);
  const std::set<ObjectReference> before = std::exchange(pods_[uid], wanted);
  for (const ObjectReference& reference : before) {
    if (wanted.contains(reference)) continue;
    const auto watch = watches_.find(reference);
    if (watch == watches_.end()) continue;
    watch->second->pods.erase(uid);
    if (!watch->second->pods.empty()) continue;
    dropped.push_back(std::move(watch->second));
    watches_.erase(watch);
  }
  for (const ObjectReference& reference : wanted) {
    std::shared_ptr<Watch>& watch = watches_[reference];
    if (watch == nullptr) {
      watch = std::make_shared<Watch>();
      watch->object = cache_->Watch(ResourceOf(reference.kind), reference.key,
                                    [this, reference](const Delta&) { Notify(reference); });
    }
    watch->pods.insert(uid);
  }
  lock.Unlock();
  dropped.clear();
}

void WatchedObjects::Unregister(const std::string& uid) {
  std::vector<std::shared_ptr<Watch>> dropped;
  MutexLock lock(mu_);
  const auto pod = pods_.find(uid);
  if (pod == pods_.end()) return;
  for (const ObjectReference& reference : pod->second) {
    const auto watch = watches_.find(reference);
    if (watch == watches_.end()) continue;
    watch->second->pods.erase(uid);
    if (!watch->second->pods.empty()) continue;
    dropped.push_back(std::move(watch->second));
    watches_.erase(watch);
  }
  pods_.erase(pod);
  lock.Unlock();
  dropped.clear();
}

void WatchedObjects::Notify(const ObjectReference& reference) {
  std::set<std::string> pods;
  {
    MutexLock lock(mu_);
    const auto watch = watches_.find(reference);
    if (watch == watches_.end()) return;
    pods = watch->second->pods;
  }
  for (const std::string& uid : pods) changed_(uid);
}

template <class T>
Result<std::shared_ptr<const T>> WatchedObjects::Get(Context& ctx,
                                                     const ObjectReference& reference) {
  std::shared_ptr<SharedInformer> informer;
  {
    MutexLock lock(mu_);
    const auto watch = watches_.find(reference);
    if (watch != watches_.end()) informer = watch->second->object->informer();
  }
  if (informer == nullptr) {
    COX_ASSIGN_OR_RETURN(T object, client_.Get<T>(ctx, reference.key));
    return std::make_shared<const T>(std::move(object));
  }
  COX_RETURN_IF_ERROR(informer->WaitSynced(ctx));
  if (std::shared_ptr<const T> object = As<T>(informer->Get(reference.key))) return object;
  const bool secret = reference.kind == ObjectReference::Kind::kSecret;
  return Status::NotFound((secret ? "secret " : "configmap ") + Quote(reference.key.name) +
                          " not found");
}

Result<std::shared_ptr<const ConfigMap>> WatchedObjects::GetConfigMap(Context& ctx,
                                                                      const ObjectKey& key) {
  return Get<ConfigMap>(ctx, {ObjectReference::Kind::kConfigMap, key});
}

Result<std::shared_ptr<const Secret>> WatchedObjects::GetSecret(Context& ctx,
                                                                const ObjectKey& key) {
  return Get<Secret>(ctx, {ObjectReference::Kind::kSecret, key});
}

size_t WatchedObjects::watches() const {
  MutexLock lock(mu_);
  return watches_.size();
}

}  // namespace cox::kubelet
