// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

namespace cox::sdk {
class StoredEventStream;
}

namespace cox {

enum class EventType : uint8_t { kAdded, kModified, kDeleted, kBookmark };

// One event of a watch. A bookmark carries only a resourceVersion: all changes up to that version
// have been delivered.
template <class T>
struct WatchEvent {
  EventType type = EventType::kAdded;
  std::shared_ptr<const T> object;  // null for bookmarks
  std::string resource_version;
  bool initial_events_end = false;  // true on the bookmark that ends the initial events
};

// A running watch. Destroying it closes the watch. Most programs use an Informer (informer.h),
// which resumes after a watch ends.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  // Blocks until an event arrives.
  // Errors: Expired (410: list again); Unavailable (the connection broke, or no data arrived for
  //   too long); EndOfWatch() (the server closed the watch normally: resume from the last
  //   resource_version); otherwise the Status of the server's ERROR event.
  virtual Result<WatchEvent<Object>> Next(Context& ctx) = 0;
  // As Next, but does not block: nothing if no event has arrived. Then `ready` is called once, on
  // any thread, when the next call may have a result. It must not block, nor call the stream. The
  // next call replaces it. It may be called after the stream is destroyed: capture weak references.
  // Errors: those of Next; MethodNotAllowed if this stream cannot be read without blocking.
  virtual Result<std::optional<WatchEvent<Object>>> TryNext(const std::function<void()>& ready);
  // For caches in the process of the API server: the same events with the objects of the server's
  // own cache; null if there are none in the requested form. A caller reads either from this stream
  // or with the methods above.
  virtual sdk::StoredEventStream* stored_events() { return nullptr; }
};
Status EndOfWatch();
bool IsEndOfWatch(const Status& status);

// Result of a list: the objects, and the resourceVersion to start a watch from.
template <class T>
struct ObjectList {
  cox::List<T> items;
  std::string resource_version;
};

// One call of one verb, as passed to decorators of the client.
struct Operation {
  enum class Verb : uint8_t { kGet, kCreate, kUpdate, kPatch, kApply, kDelete, kDeleteAll };
  Verb verb = Verb::kGet;
  const Resource& resource;
  ObjectKey key;  // the name is empty with generateName and for kDeleteAll
  std::string subresource;
  const Object* body = nullptr;           // create, update
  const cox::Patch* patch = nullptr;      // patch, and the body of apply
  const GetOptions* get = nullptr;        // kGet
  const WriteOptions* write = nullptr;    // create, update, patch
  const ApplyOptions* apply = nullptr;    // kApply
  const DeleteOptions* remove = nullptr;  // kDelete, kDeleteAll
  const ListOptions* list = nullptr;      // selects the objects for kDeleteAll
  // Kind to decode the response into if it differs from the resource's kind (for example Scale).
  // Null: the kind that the response declares.
  const KindInfo* answer = nullptr;
  // Additional request headers, set by decorators.
  net::Headers headers = {};

  bool IsWrite() const { return verb != Verb::kGet; }
};

// Client for the Kubernetes API: all verbs, for built-in and custom kinds, typed and dynamic. Every
// read is a request to the server; use the Cache (cache.h) for reads from memory.
//
//   Result<core::v1::Pod> pod = client.Get<core::v1::Pod>(ctx, {"default", "web"});
//   if (pod.status().Is(Reason::kNotFound)) ...
//   pod->metadata.labels["tier"] = "front";
//   COX_ASSIGN_OR_RETURN(pod, client.Update(ctx, *pod));      // Conflict if it changed meanwhile
//
// Guarantees: a request is retried after 429 or 5xx with Retry-After, and after a connection
//   failure that occurred before the server could have received the request; reads are also retried
//   after other connection failures. Nothing else is retried.
// Threads: all methods may be called concurrently.
// Ownership: Client is an interface that decorators implement; the creator of a client owns it.
// Errors: the Status sent by the server (reason, message, details); Unavailable if the server
//   cannot be reached; the context's Status if the context stops first.
class Client {
 public:
  virtual ~Client() = default;

  // --- Typed: T is a struct of the API ("api/core/v1.h") or a custom resource (custom_resource.h).
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
  // `object.metadata` must contain the name (and the namespace).
  Result<Object> Apply(Context& ctx, const Resource& resource, const Value& object,
                       const ApplyOptions& options);
  // Returns the object's last state if it was removed, or its current state if finalizers or a
  // grace period delay the removal (HeadOf(...).deleting is then true). If the server responds with
  // a Status object, returns that object.
  Result<Object> Delete(Context& ctx, const Resource& resource, const ObjectKey& key,
                        const DeleteOptions& options = {});
  Status DeleteAll(Context& ctx, const Resource& resource, const ListOptions& which,
                   const DeleteOptions& options = {});

  // --- Virtual methods that decorators implement.
  virtual Result<Object> Execute(Context& ctx, const Operation& operation) = 0;
  // Calls `take` for each object as it is decoded, so that memory use does not grow with the length
  // of the list. Stops at the first error that `take` returns, and returns that error. Returns the
  // resourceVersion of the list.
  virtual Result<std::string> ListEach(Context& ctx, const Resource& resource,
                                       const ListOptions& options,
                                       const std::function<Status(Object)>& take) = 0;
  virtual Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) = 0;
  // As ListEach and Watch, but the server sends only metadata; objects are PartialObjectMetadata.
  virtual Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                           const ListOptions& options,
                                           const std::function<Status(Object)>& take) = 0;
  virtual Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                             const WatchOptions& options) = 0;
  // Finds the resource of a kind through API discovery. Found kinds are cached; unknown kinds are
  // looked up again, at most every few seconds. Returns NotFound with Kubernetes' text.
  virtual Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) = 0;
  // For requests that are not verbs: /version, /healthz, metrics, logs, exec.
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

// Creates a client over HTTPS from `config`, or over any transport.
Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config);
std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config = {});

// The metrics of client-go's REST client (rest_client_requests_total and others). Create one per
// registry and share it between clients. The registry must outlive it.
class ClientMetrics;
std::shared_ptr<ClientMetrics> MakeClientMetrics(MetricsRegistry& registry);
// If `metrics` is null, no metrics are recorded.
Result<std::unique_ptr<Client>> Connect(const Context& ctx, const Config& config,
                                        std::shared_ptr<ClientMetrics> metrics);
std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config,
                                   std::shared_ptr<ClientMetrics> metrics);

// Reads the object, calls `change` to edit it and updates it. After a Conflict, repeats all three
// steps, up to five attempts (like client-go's RetryOnConflict). `change` returns false if no
// update is needed.
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
