// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "api/meta/v1.h"
#include "base/check.h"
#include "base/mutex.h"
#include "coxswain/client.h"
#include "object/patch/merge_patch.h"
#include "object/patch/patch.h"

namespace cox::sdk {

// For tests: objects in memory with optimistic concurrency and watches by name, as needed for
// self-signed certificates. Other operations fail.
class MemoryClient final : public Client {
 public:
  Result<Object> Execute(Context&, const Operation& operation) override {
    MutexLock lock(mu_);
    if (failing_) return Status::Unavailable("the server is away");
    const std::string at = operation.resource.ToString() + "/" + NameIn(operation).ToString();
    const auto found = objects_.find(at);
    switch (operation.verb) {
      case Operation::Verb::kGet:
        if (found == objects_.end()) return Status::NotFound(at + " not found");
        return found->second;
      case Operation::Verb::kCreate:
        if (found != objects_.end()) return Status::AlreadyExists(at + " exists");
        return Put(at, *operation.body);
      case Operation::Verb::kUpdate: {
        if (found == objects_.end()) return Status::NotFound(at + " not found");
        const std::string& based_on = operation.body->object_meta()->resourceVersion;
        if (!based_on.empty() && based_on != found->second.object_meta()->resourceVersion) {
          return Status::Conflict(at + " was changed");
        }
        return Put(at, *operation.body);
      }
      case Operation::Verb::kPatch:
        if (found == objects_.end()) return Status::NotFound(at + " not found");
        return Change(at, found->second, *operation.patch);
      case Operation::Verb::kApply: {
        // A simplified server-side apply: applied fields win, other fields are kept.
        Object start = found == objects_.end() ? Object(*operation.resource.info) : found->second;
        return Change(at, std::move(start), Patch::Merge(operation.patch->body));
      }
      default:
        return Status::Internal("not in this fake");
    }
  }

  Result<std::unique_ptr<WatchStream>> Watch(Context&, const Resource& resource,
                                             const WatchOptions& options) override {
    const auto name = options.list.fields.RequiresExactMatch("metadata.name");
    COX_CHECK(name.has_value());
    MutexLock lock(mu_);
    ++watches_;
    changed_.NotifyAll();
    return std::unique_ptr<WatchStream>(std::make_unique<Stream>(
        *this,
        resource.ToString() + "/" + ObjectKey{options.list.ns, std::string(*name)}.ToString()));
  }

  Result<std::string> ListEach(Context&, const Resource&, const ListOptions&,
                               const std::function<Status(Object)>&) override {
    return Status::Internal("not in this fake");
  }
  Result<std::string> ListMetadata(Context&, const Resource&, const ListOptions&,
                                   const std::function<Status(Object)>&) override {
    return Status::Internal("not in this fake");
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context&, const Resource&,
                                                     const WatchOptions&) override {
    return Status::Internal("not in this fake");
  }
  Result<Resource> Discover(Context&, const GroupVersionKind&) override {
    return Status::Internal("not in this fake");
  }
  Transport& transport() override { COX_CHECK(false) << "not in this fake"; }
  const std::string& default_namespace() const override { return ns_; }

  void SetFailing(bool failing) {
    MutexLock lock(mu_);
    failing_ = failing;
  }
  int writes() const {
    MutexLock lock(mu_);
    return writes_;
  }
  // Waits until `holds(object)` is true for an existing object, or `ctx` stops.
  template <class T>
  Status WaitUntil(Context& ctx, const std::string& ns, const std::string& name,
                   const std::function<bool(const T&)>& holds) {
    const std::string at = Resource::Of<T>().ToString() + "/" + ObjectKey{ns, name}.ToString();
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_, [&]() COX_REQUIRES(mu_) {
      const auto found = objects_.find(at);
      return found != objects_.end() && holds(*found->second.As<T>());
    });
  }

 private:
  class Stream final : public WatchStream {
   public:
    Stream(MemoryClient& client, std::string at) : client_(client), at_(std::move(at)) {}
    Result<WatchEvent<Object>> Next(Context& ctx) override {
      MutexLock lock(client_.mu_);
      COX_RETURN_IF_ERROR(
          ctx.Await(client_.mu_, client_.changed_, [this]() COX_REQUIRES(client_.mu_) {
            const auto found = client_.objects_.find(at_);
            return found != client_.objects_.end() &&
                   found->second.object_meta()->resourceVersion != seen_;
          }));
      const Object& object = client_.objects_.find(at_)->second;
      seen_ = object.object_meta()->resourceVersion;
      return WatchEvent<Object>{.type = EventType::kModified,
                                .object = std::make_shared<const Object>(object),
                                .resource_version = seen_};
    }

   private:
    MemoryClient& client_;
    const std::string at_;
    std::string seen_;
  };

  static ObjectKey NameIn(const Operation& operation) {
    if (operation.body == nullptr) return operation.key;
    return {operation.body->object_meta()->namespace_, operation.body->object_meta()->name};
  }

  Object Put(const std::string& at, Object object) COX_REQUIRES(mu_) {
    const auto found = objects_.find(at);
    meta::v1::ObjectMeta& meta = *object.object_meta();
    meta.uid = "uid-" + at;
    if (found != objects_.end()) {
      meta.resourceVersion = found->second.object_meta()->resourceVersion;
      if (found->second == object) return object;
    }
    ++writes_;
    meta.resourceVersion = std::to_string(++version_);
    objects_.insert_or_assign(at, object);
    changed_.NotifyAll();
    return object;
  }

  Result<Object> Change(const std::string& at, Object object, const Patch& patch)
      COX_REQUIRES(mu_) {
    COX_ASSIGN_OR_RETURN(Value value,
                         patch::Apply(patch.type, object.ToValue(), patch.body, object.type()));
    COX_RETURN_IF_ERROR(object.FromValue(std::move(value)));
    return Put(at, std::move(object));
  }

  const std::string ns_ = "default";
  mutable Mutex mu_;
  CondVar changed_;
  std::map<std::string, Object> objects_ COX_GUARDED_BY(mu_);
  int64_t version_ COX_GUARDED_BY(mu_) = 100;
  int writes_ COX_GUARDED_BY(mu_) = 0;
  int watches_ COX_GUARDED_BY(mu_) = 0;
  bool failing_ COX_GUARDED_BY(mu_) = false;
};

}  // namespace cox::sdk
