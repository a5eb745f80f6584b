// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "base/check.h"
#include "base/mutex.h"
#include "coxswain/client.h"

// For tests of the cache: a client for a simulated server that stores ConfigMaps with their
// complete history and injects faults.
namespace cox::sdk {

class HistoryClient final : public Client {
 public:
  using Map = core::v1::ConfigMap;

  static Resource Maps() { return Resource::Of<Map>(); }

  // --- State of the server.
  // Creates or updates the object; returns its new state.
  ObjectPtr Put(const std::string& ns, const std::string& name, const std::string& data = "",
                cox::Map<std::string> labels = {}) {
    MutexLock lock(mu_);
    const ObjectPtr before = State(version_)[{ns, name}];
    Map map;
    if (before != nullptr) map = *before->As<Map>();
    if (before == nullptr) map.metadata.uid = "u" + std::to_string(version_ + 1);
    map.metadata.namespace_ = ns;
    map.metadata.name = name;
    map.metadata.labels = std::move(labels);
    map.metadata.resourceVersion = std::to_string(++version_);
    map.data["data"] = data;
    ObjectPtr object = std::make_shared<const Object>(Object::Of(std::move(map)));
    Happened(before == nullptr ? EventType::kAdded : EventType::kModified, object);
    return object;
  }
  ObjectPtr Remove(const std::string& ns, const std::string& name) {
    MutexLock lock(mu_);
    const ObjectPtr before = State(version_)[{ns, name}];
    COX_CHECK(before != nullptr);
    Map map = *before->As<Map>();
    map.metadata.resourceVersion = std::to_string(++version_);
    auto object = std::make_shared<const Object>(Object::Of(std::move(map)));
    Happened(EventType::kDeleted, object);
    return object;
  }
  int64_t version() const {
    MutexLock lock(mu_);
    return version_;
  }
  // Advances only the resourceVersion, like a write to another resource.
  void SkipVersions(int64_t count) {
    MutexLock lock(mu_);
    version_ += count;
  }

  // --- Injected faults, in effect until changed.
  struct Faults {
    Status away;                   // status of every request
    Status streaming;              // status of every streaming list
    Status watching;               // status of every watch without a list
    Status paging;                 // status of every paged list
    std::optional<int64_t> stale;  // version returned by lists that request a version
    int64_t compacted = 0;         // older versions are Expired
    std::optional<int> end_after;  // watches end normally after this many events
    // Streaming lists start with this version and send later changes before their end.
    std::optional<int64_t> list_begins;
    bool no_end_bookmark = false;  // simulates servers without streaming lists
    bool silent = false;           // watches deliver nothing and do not end
  };
  void Set(Faults faults) {
    MutexLock lock(mu_);
    faults_ = std::move(faults);
    NotifyAll();
  }
  // Ends all running watches with this status.
  void EndWatches(Status why) {
    MutexLock lock(mu_);
    ++ends_;
    end_ = std::move(why);
    NotifyAll();
  }
  // Sends a bookmark to all running watches.
  void Bookmark() {
    MutexLock lock(mu_);
    log_.push_back({version_, EventType::kBookmark, nullptr});
    NotifyAll();
  }
  // Sends a late or duplicate event to all running watches.
  void Replay(EventType type, ObjectPtr object) {
    MutexLock lock(mu_);
    log_.push_back({HeadOf(*object).version, type, std::move(object)});
    NotifyAll();
  }

  // --- Received requests.
  struct Requests {
    int lists = 0;
    int streams = 0;
    int watches = 0;  // without a list
    int all() const { return lists + streams + watches; }
  };
  Requests requests() const {
    MutexLock lock(mu_);
    return requests_;
  }
  WatchOptions last_watch() const {
    MutexLock lock(mu_);
    return last_watch_;
  }
  ListOptions last_list() const {
    MutexLock lock(mu_);
    return last_list_;
  }
  // Waits in real time.
  void AwaitAsked(const std::function<bool(const Requests&)>& enough) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return enough(requests_); });
  }
  // Waits until `count` watches wait for events.
  void AwaitFollowing(int count) {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [&]() COX_REQUIRES(mu_) { return following_ >= count; });
  }

  bool Follows() const {
    MutexLock lock(mu_);
    return following_ > 0;
  }
  // Versions of all existing objects.
  std::map<std::string, int64_t> Versions() const {
    MutexLock lock(mu_);
    std::map<std::string, int64_t> out;
    for (const auto& [key, object] : State(version_)) out[key.ToString()] = HeadOf(*object).version;
    return out;
  }

  // Response of Execute; default: NotFound.
  std::function<Result<Object>(const Operation&)> execute;

  Result<Object> Execute(Context&, const Operation& operation) override {
    return execute ? execute(operation) : Status::NotFound("nothing here");
  }
  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    return List(ctx, resource, false, options, take);
  }
  Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                   const ListOptions& options,
                                   const std::function<Status(Object)>& take) override {
    return List(ctx, resource, true, options, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    return StartWatch(ctx, resource, false, options);
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) override {
    return StartWatch(ctx, resource, true, options);
  }
  Result<Resource> Discover(Context&, const GroupVersionKind&) override { return Maps(); }
  Transport& transport() override {
    COX_CHECK(false);
    std::abort();
  }
  const std::string& default_namespace() const override { return default_namespace_; }

 private:
  struct Logged {
    int64_t version;
    EventType type;
    ObjectPtr object;
  };
  using Objects = std::map<ObjectKey, ObjectPtr>;

  class Stream final : public WatchStream {
   public:
    Stream(HistoryClient& client, const Resource& resource, bool metadata, WatchOptions options,
           std::vector<WatchEvent<Object>> first, size_t position, int64_t ends)
        : client_(client),
          resource_(resource),
          metadata_(metadata),
          options_(std::move(options)),
          first_(std::move(first)),
          position_(position),
          ends_(ends) {}
    ~Stream() override { client_.Forget(*this); }
    Result<WatchEvent<Object>> Next(Context& ctx) override { return client_.NextOf(ctx, *this); }
    Result<std::optional<WatchEvent<Object>>> TryNext(const std::function<void()>& ready) override {
      return client_.TryNextOf(*this, ready);
    }

   private:
    friend class HistoryClient;
    HistoryClient& client_;
    const Resource resource_;
    const bool metadata_;
    const WatchOptions options_;
    std::vector<WatchEvent<Object>> first_;
    size_t given_ = 0;  // of first_
    int brought_ = 0;
    size_t position_;  // in log_
    const int64_t ends_;
  };

  void Happened(EventType type, ObjectPtr object) COX_REQUIRES(mu_) {
    log_.push_back({version_, type, std::move(object)});
    past_.push_back(log_.back());
    NotifyAll();
  }
  Objects State(int64_t at) const COX_REQUIRES(mu_) {
    Objects objects;
    for (const Logged& event : past_) {
      if (event.version > at) break;
      const ObjectKey key = HeadOf(*event.object).key;
      if (event.type == EventType::kDeleted) {
        objects.erase(key);
      } else {
        objects[key] = event.object;
      }
    }
    return objects;
  }
  static bool Selects(const ListOptions& options, const Object& object) {
    const Map& map = *object.As<Map>();
    const auto name = options.fields.RequiresExactMatch("metadata.name");
    return (options.ns.empty() || options.ns == map.metadata.namespace_) &&
           options.labels.Matches(map.metadata.labels) &&
           name.value_or(map.metadata.name) == map.metadata.name;
  }
  static ObjectPtr Shown(const Resource& resource, bool metadata, const ObjectPtr& object) {
    if (metadata) {
      meta::v1::PartialObjectMetadata partial;
      partial.metadata = object->As<Map>()->metadata;
      return std::make_shared<const Object>(Object::Of(std::move(partial)));
    }
    if (resource.info != nullptr) return object;
    return std::make_shared<const Object>(resource.gvk, types::kAny, object->ToValue());
  }

  Result<int64_t> VersionToShow(const ListOptions& options) COX_REQUIRES(mu_) {
    // A list without a version returns the newest state even from a lagging server.
    if (faults_.stale && !options.resource_version.empty()) return *faults_.stale;
    if (!options.resource_version.empty() && options.resource_version != "0") {
      const int64_t wanted = std::stoll(options.resource_version);
      if (wanted > version_) {
        return Status(Reason::kTimeout, "Too large resource version: " + options.resource_version);
      }
    }
    return version_;
  }

  Result<std::string> List(Context&, const Resource& resource, bool metadata,
                           const ListOptions& options, const std::function<Status(Object)>& take) {
    Objects objects;
    int64_t at = 0;
    {
      MutexLock lock(mu_);
      ++requests_.lists;
      last_list_ = options;
      changed_.NotifyAll();
      if (!faults_.away.ok()) return faults_.away;
      if (!faults_.paging.ok() && options.page_size > 0) return faults_.paging;
      COX_ASSIGN_OR_RETURN(at, VersionToShow(options));
      objects = State(at);
    }
    for (const auto& [key, object] : objects) {
      if (!Selects(options, *object)) continue;
      COX_RETURN_IF_ERROR(take(Object(*Shown(resource, metadata, object))));
    }
    return std::to_string(at);
  }

  Result<std::unique_ptr<WatchStream>> StartWatch(Context&, const Resource& resource, bool metadata,
                                                  const WatchOptions& options) {
    MutexLock lock(mu_);
    last_watch_ = options;
    ++(options.send_initial_events ? requests_.streams : requests_.watches);
    changed_.NotifyAll();
    if (!faults_.away.ok()) return faults_.away;
    std::vector<WatchEvent<Object>> first;
    size_t position = log_.size();
    if (options.send_initial_events) {
      if (!faults_.streaming.ok()) return faults_.streaming;
      COX_ASSIGN_OR_RETURN(const int64_t at, VersionToShow(options.list));
      for (const auto& [key, object] : State(faults_.list_begins.value_or(at))) {
        if (!Selects(options.list, *object)) continue;
        first.push_back({EventType::kAdded, Shown(resource, metadata, object),
                         object->As<Map>()->metadata.resourceVersion, false});
      }
      for (const Logged& event : past_) {
        if (!faults_.list_begins || event.version <= *faults_.list_begins) continue;
        first.push_back({event.type, Shown(resource, metadata, event.object),
                         std::to_string(event.version), false});
      }
      if (!faults_.no_end_bookmark) {
        first.push_back({EventType::kBookmark, nullptr, std::to_string(at), true});
      }
    } else {
      if (!faults_.watching.ok()) return faults_.watching;
      const int64_t from = std::stoll(options.list.resource_version);
      if (from < faults_.compacted) return Status::Expired("too old resource version");
      if (from > version_) return Status(Reason::kTimeout, "Too large resource version");
      position = 0;
      while (position < log_.size() && log_[position].version <= from) ++position;
    }
    return std::unique_ptr<WatchStream>(std::make_unique<Stream>(
        *this, resource, metadata, options, std::move(first), position, ends_));
  }

  void NotifyAll() COX_REQUIRES(mu_) {
    changed_.NotifyAll();
    for (const auto& [stream, ready] : std::exchange(ready_, {})) {
      --following_;
      ready();
    }
  }
  void Forget(const Stream& stream) {
    MutexLock lock(mu_);
    following_ -= static_cast<int>(ready_.erase(&stream));
  }

  bool HasNext(const Stream& stream) const COX_REQUIRES(mu_) {
    return stream.ends_ != ends_ || (faults_.end_after && stream.brought_ >= *faults_.end_after) ||
           (stream.position_ < log_.size() && !faults_.silent);
  }
  // The next event that the watch selects, or the end of the watch. REQUIRES: HasNext
  std::optional<Result<WatchEvent<Object>>> TakeNext(Stream& stream) COX_REQUIRES(mu_) {
    if (faults_.end_after && stream.brought_ >= *faults_.end_after) return EndOfWatch();
    if (stream.position_ >= log_.size() || faults_.silent) return end_;
    const Logged& event = log_[stream.position_++];
    if (event.object != nullptr && !Selects(stream.options_.list, *event.object)) {
      return std::nullopt;
    }
    ++stream.brought_;
    return WatchEvent<Object>{
        event.type,
        event.object == nullptr ? nullptr : Shown(stream.resource_, stream.metadata_, event.object),
        std::to_string(event.version), false};
  }
  Result<WatchEvent<Object>> NextOf(Context& ctx, Stream& stream) {
    MutexLock lock(mu_);
    if (stream.given_ < stream.first_.size()) return stream.first_[stream.given_++];
    while (true) {
      ++following_;
      changed_.NotifyAll();
      const Status stopped =
          ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) { return HasNext(stream); });
      --following_;
      COX_RETURN_IF_ERROR(stopped);
      if (auto next = TakeNext(stream)) return *std::move(next);
    }
  }
  Result<std::optional<WatchEvent<Object>>> TryNextOf(Stream& stream,
                                                      const std::function<void()>& ready) {
    using Event = std::optional<WatchEvent<Object>>;
    MutexLock lock(mu_);
    if (stream.given_ < stream.first_.size()) return Event(stream.first_[stream.given_++]);
    while (HasNext(stream)) {
      auto next = TakeNext(stream);
      if (!next) continue;
      if (!next->ok()) return next->status();
      return Event(**std::move(next));
    }
    following_ += ready_.insert_or_assign(&stream, ready).second ? 1 : 0;
    changed_.NotifyAll();
    return Event();
  }

  const std::string default_namespace_ = "default";
  mutable Mutex mu_;
  CondVar changed_;
  int64_t version_ COX_GUARDED_BY(mu_) = 100;
  std::vector<Logged> log_ COX_GUARDED_BY(mu_);   // sent to watches
  std::vector<Logged> past_ COX_GUARDED_BY(mu_);  // the history of the state
  Faults faults_ COX_GUARDED_BY(mu_);
  int64_t ends_ COX_GUARDED_BY(mu_) = 0;
  Status end_ COX_GUARDED_BY(mu_);
  Requests requests_ COX_GUARDED_BY(mu_);
  WatchOptions last_watch_ COX_GUARDED_BY(mu_);
  ListOptions last_list_ COX_GUARDED_BY(mu_);
  int following_ COX_GUARDED_BY(mu_) = 0;
  std::map<const Stream*, std::function<void()>> ready_ COX_GUARDED_BY(mu_);  // of TryNext
};

}  // namespace cox::sdk
