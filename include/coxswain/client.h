// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/metrics.h"
#include "base/result.h"
#include "coxswain/apply.h"
#include "coxswain/config.h"
#include "coxswain/object_key.h"
#include "coxswain/options.h"
#include "coxswain/resource.h"
#include "coxswain/transport.h"
#include "object/type/list.h"

namespace cox {

enum class EventType : uint8_t { kAdded, kModified, kDeleted, kBookmark };

// One change that a watch brought. A bookmark has only a resourceVersion: nothing else happened up
// to there.
template <class T>
struct WatchEvent {
  EventType type = EventType::kAdded;
  std::shared_ptr<const T> object;  // null for bookmarks
  std::string resource_version;
  bool initial_events_end = false;  // of the bookmark that ends send_initial_events
};

// A running watch. Dropping it ends it. Most want an Informer (informer.h), which survives what
// ends a watch.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  // Blocks until there is an event. Errors: Expired (410: list anew), Unavailable (the connection
  // broke or was silent for too long), EndOfWatch() (the server ended it in peace: go on from the
  // last resource_version), else what the server said in an ERROR event.
  virtual Result<WatchEvent<Object>> Next(Context& ctx) = 0;
};
Status EndOfWatch();
bool IsEndOfWatch(const Status& status);

// What a list gives: the objects and the resourceVersion to watch from.
template <class T>
struct ObjectList {
  cox::List<T> items;
  std::string resource_version;
};

// One call of one verb, as decorators of the client see it.
struct Operation {
  enum class Verb : uint8_t { kGet, kCreate, kUpdate, kPatch, kApply, kDelete, kDeleteAll };
  Verb verb = Verb::kGet;
  const Resource& resource;
  ObjectKey key;  // name empty where the server makes it up, and for kDeleteAll
  std::string subresource;
  const Object* body = nullptr;           // create, update
  const cox::Patch* patch = nullptr;      // patch, and the body of apply
  const GetOptions* get = nullptr;        // kGet
  const WriteOptions* write = nullptr;    // create, update, patch
  const ApplyOptions* apply = nullptr;    // kApply
  const DeleteOptions* remove = nullptr;  // kDelete, kDeleteAll
  const ListOptions* list = nullptr;      // which, for kDeleteAll
  // Of the kind that the answer is decoded to, where it is another than the resource's (a Scale);
  // null: whatever the answer says it is.
  const KindInfo* answer = nullptr;
  // Sent besides those that the client makes: what a decorator has to say to the server.
  net::Headers headers = {};

  bool IsWrite() const { return verb != Verb::kGet; }
};

// Talks to the API server, in structs of the API: all verbs, for built-in and custom kinds, typed
// and dynamic. It asks the server each time; reads from memory are the Cache's (cache.h).
//
//   Result<core::v1::Pod> pod = client.Get<core::v1::Pod>(ctx, {"default", "web"});
//   if (pod.status().Is(Reason::kNotFound)) ...
//   pod->metadata.labels["tier"] = "front";
//   COX_ASSIGN_OR_RETURN(pod, client.Update(ctx, *pod));      // Conflict if it changed meanwhile
//
// Guarantees: a request is sent again after 429 or 503 with Retry-After, and after a connection
//   that broke before the server can have seen it; reads also after other broken connections.
//   Nothing else is repeated behind the caller's back.
// Threads: all methods may be called concurrently.
// Ownership: a Client is an interface that decorators implement; whoever creates one owns it.
// Errors: the server's own Status (reason, message, details); Unavailable when it cannot be
//   reached; the context's reason when that stops first.
class Client {
 public:
  virtual ~Client() = default;

  // --- Typed: T is a struct of the API ("api/core/v1.h") or one of your own (custom_resource.h).
  template <class T>
  Result<T> Get(Context& ctx, const ObjectKey& key, const GetOptions& options = {}) {
    return Take<T>(Get(ctx, Resource::Of<T>(), key, options));
  }
  template <class T>
  Result<ObjectList<T>> List(Context& ctx, const ListOptions& options = {}) {
    ObjectList<T> list;
    ListOptions in_pages = options;
    in_pages.on_restart = [&] {
      list.items.clear();
      if (options.on_restart) options.on_restart();
    };
    COX_ASSIGN_OR_RETURN(list.resource_version,
                         ListEach(ctx, Resource::Of<T>(), in_pages, [&list](Object object) {
                           if (T* item = object.As<T>()) list.items.push_back(std::move(*item));
                           return Status();
                         }));
    return list;
  }
  template <class T>
  Result<T> Create(Context& ctx, T object, const WriteOptions& options = {}) {
    return Take<T>(Create(ctx, Resource::Of<T>(), Object::Of(std::move(object)), options));
  }
  template <class T>
  Result<T> Update(Context& ctx, T object, const WriteOptions& options = {}) {
    return Take<T>(Update(ctx, Resource::Of<T>(), Object::Of(std::move(object)), options));
  }
  template <class T>
  Result<T> UpdateStatus(Context& ctx, T object) {
    return Update(ctx, std::move(object), WriteOptions{.subresource = "status"});
  }
  template <class T>
  Result<T> PatchObject(Context& ctx, const ObjectKey& key, const Patch& patch,
                        const WriteOptions& options = {}) {
    return Take<T>(PatchObject(ctx, Resource::Of<T>(), key, patch, options));
  }
  template <class T>
  Result<T> PatchStatus(Context& ctx, const ObjectKey& key, const Patch& patch) {
    return PatchObject<T>(ctx, key, patch, {.subresource = "status"});
  }
  template <class T>
  Result<T> Apply(Context& ctx, const ApplyConfiguration<T>& configuration,
                  const ApplyOptions& options) {
    return Take<T>(Apply(ctx, Resource::Of<T>(), configuration.ToValue(), options));
  }
  template <class T>
  Status Delete(Context& ctx, const ObjectKey& key, const DeleteOptions& options = {}) {
    return Delete(ctx, Resource::Of<T>(), key, options).status();
  }
  template <class T>
  Status DeleteAll(Context& ctx, const ListOptions& which, const DeleteOptions& options = {}) {
    return DeleteAll(ctx, Resource::Of<T>(), which, options);
  }

  // --- Dynamic: any kind, as an Object.
  Result<Object> Get(Context& ctx, const Resource& resource, const ObjectKey& key,
                     const GetOptions& options = {});
  Result<Object> Create(Context& ctx, const Resource& resource, const Object& object,
                        const WriteOptions& options = {});
  Result<Object> Update(Context& ctx, const Resource& resource, const Object& object,
                        const WriteOptions& options = {});
  Result<Object> PatchObject(Context& ctx, const Resource& resource, const ObjectKey& key,
                             const Patch& patch, const WriteOptions& options = {});
  // `object` names itself in its metadata.
  Result<Object> Apply(Context& ctx, const Resource& resource, const Value& object,
                       const ApplyOptions& options);
  // The object as it was if it is gone, the object as it is if it is still going (finalizers, grace
  // period): HeadOf(...).deleting tells. The server may answer with a Status instead: then that.
  Result<Object> Delete(Context& ctx, const Resource& resource, const ObjectKey& key,
                        const DeleteOptions& options = {});
  Status DeleteAll(Context& ctx, const Resource& resource, const ListOptions& which,
                   const DeleteOptions& options = {});

  // --- What decorators implement.
  virtual Result<Object> Execute(Context& ctx, const Operation& operation) = 0;
  // Calls `take` with each object, as they arrive: a list of any length in the memory of one
  // object. Ends early, with its Status, when `take` fails. Returns the list's resourceVersion.
  virtual Result<std::string> ListEach(Context& ctx, const Resource& resource,
                                       const ListOptions& options,
                                       const std::function<Status(Object)>& take) = 0;
  virtual Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) = 0;
  // The same for the metadata alone: objects are PartialObjectMetadata, and the server sends no
  // more than that.
  virtual Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                           const ListOptions& options,
                                           const std::function<Status(Object)>& take) = 0;
  virtual Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                             const WatchOptions& options) = 0;
  // Which resource a kind is, by the server's discovery; remembered, and asked again for kinds that
  // are not there (yet). NotFound with the API's text.
  virtual Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) = 0;
  // For what has no verb: /version, /healthz, metrics, logs, exec.
  virtual Transport& transport() = 0;
  virtual const std::string& default_namespace() const = 0;

 private:
  template <class T>
  static Result<T> Take(Result<Object> object) {
    if (!object.ok()) return object.status();
    T* inner = object->As<T>();
    if (inner == nullptr) {
      return Status::Internal("the server answered with a " + object->gvk().ToString());
    }
    return std::move(*inner);
  }
};

// A client over HTTPS, as `config` says; over any transport.
Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config);
std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config = {});

// The series that client-go's clients have: rest_client_requests_total and the like. One for a
// registry, shared by all clients that count in it. The registry outlives it.
class ClientMetrics;
std::shared_ptr<ClientMetrics> MakeClientMetrics(MetricsRegistry& registry);
// Null counts nothing.
Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config,
                                        std::shared_ptr<ClientMetrics> metrics);
std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config,
                                   std::shared_ptr<ClientMetrics> metrics);

// Reads the object, lets `change` edit it and writes it back, again after a Conflict (client-go's
// RetryOnConflict, with its five attempts). `change` returns false when there is nothing to do.
template <class T>
Result<T> ChangeObject(Context& ctx, Client& client, const ObjectKey& key,
                       const std::function<Result<bool>(T&)>& change,
                       const WriteOptions& options = {}) {
  Result<T> object = client.Get<T>(ctx, key);
  for (int attempt = 1; object.ok(); ++attempt) {
    COX_ASSIGN_OR_RETURN(const bool changed, change(*object));
    if (!changed) return object;
    Result<T> written = client.Update(ctx, *object, options);
    if (written.ok() || !written.status().Is(Reason::kConflict) || attempt == 5) return written;
    COX_RETURN_IF_ERROR(ctx.Sleep(std::chrono::milliseconds(10 * attempt)));
    object = client.Get<T>(ctx, key);
  }
  return object;
}

}  // namespace cox
