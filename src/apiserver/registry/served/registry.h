// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "apiserver/registry/kinds/kinds.h"
#include "apiserver/registry/store/store.h"
#include "base/metrics.h"
#include "object/apply/field_manager.h"
#include "object/codec.h"
#include "storage/watchcache/watch_cache.h"

namespace cox::apiserver {

// A resource under one of its paths: which kind is spoken there and where its objects are.
class ServedResource {
 public:
  ServedResource(const KindInfo& kind, ResourceStore& store, const ServedVersion* version,
                 uint8_t slot);

  const KindInfo& kind() const { return kind_; }  // as served
  ResourceStore& store() const { return store_; }
  const Strategy& strategy() const { return store_.strategy(); }
  Resource resource() const { return {kind_.group, kind_.plural}; }
  GroupVersionKind gvk() const;
  const ServedVersion* version() const { return version_; }  // null: the hub itself

  Object ToHub(Object served) const;
  Object FromHub(const Object& hub) const;
  // Sets the defaults of the served version.
  void SetDefaults(Object& served) const;

  // An object of the cache as clients of this path read it, JSON or protobuf, made once and shared.
  // JSON is without a newline at the end.
  Result<Bytes> Encoded(const storage::Entry& entry, Format format) const;
  // The same of bytes that are not in the cache.
  Result<Bytes> Encode(std::string_view stored, storage::Revision revision, Format format) const;
  // How long `{"kind":"Pod","apiVersion":"v1",` is: items of lists go without.
  size_t type_meta_size() const { return type_meta_size_; }

  // Who owns which fields, for writes on this path and one of its subresources.
  const apply::FieldManager& field_manager(std::string_view subresource) const;

 private:
  class Versions;

  const KindInfo& kind_;
  ResourceStore& store_;
  const ServedVersion* const version_;
  const uint8_t slot_;
  size_t type_meta_size_;
  std::unique_ptr<Versions> versions_;  // null where there is just one
  std::map<std::string, std::unique_ptr<apply::FieldManager>, std::less<>> managers_;
};

// Every resource the server stores, by path.
//
// Threads: constant after construction; the stores synchronise themselves.
class Registry {
 public:
  struct Options {
    // The storage of a resource: "events", "leases.coordination.k8s.io", ...
    std::function<storage::Store&(const KindInfo&)> storage;
    std::string root = "/registry";
    MetricsRegistry* metrics = nullptr;
    bool watch_cache = true;
    std::chrono::seconds event_ttl{0};  // 0: an hour
    // Which group versions and resources are served.
    std::function<bool(const KindInfo&)> serves;
  };
  Registry(const Context& ctx, Options options);
  ~Registry();

  // Null if there is no such resource.
  const ServedResource* Find(std::string_view group, std::string_view version,
                             std::string_view resource) const;
  // Of the kind's hub. Ends the process if there is none: for kinds the server itself needs.
  const ServedResource& Hub(const KindInfo& kind) const;
  const std::vector<std::unique_ptr<ServedResource>>& served() const { return served_; }

  // OK once every cache has its first list.
  Status WaitReady(Context& ctx) const;
  bool ready() const;

 private:
  class Heads;
  using Path = std::tuple<std::string_view, std::string_view, std::string_view>;

  std::shared_ptr<storage::RevisionReader> RevisionsOf(const Context& ctx, storage::Store& store);
  void Add(const Strategy& strategy, ResourceStore& store, const Options& options);

  const std::vector<StrategyPtr> strategies_;
  const std::shared_ptr<storage::EncodingBudget> encodings_;
  const std::unique_ptr<storage::WatchCacheMetrics> cache_metrics_;
  std::map<storage::Store*, std::shared_ptr<storage::RevisionReader>> revisions_;
  std::vector<std::unique_ptr<Heads>> heads_;
  std::vector<std::unique_ptr<storage::WatchCache>> caches_;
  std::vector<std::unique_ptr<ResourceStore>> stores_;
  std::vector<std::unique_ptr<ServedResource>> served_;
  std::map<Path, const ServedResource*> by_path_;
};

}  // namespace cox::apiserver
