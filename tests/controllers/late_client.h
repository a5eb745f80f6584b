// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "coxswain/forwarding_client.h"
#include "testkit/wait.h"

namespace cox::controllers {

// A client that delays the watch of one resource, so that a cache over it is late, and that records
// operations and makes them fail.
//
// Threads: all methods may be called concurrently.
class LateClient final : public ForwardingClient {
 public:
  using ForwardingClient::ForwardingClient;

  // Delivers no further events of watches of T until Resume().
  template <class T>
  void Hold() {
    MutexLock lock(mu_);
    held_ = Resource::Of<T>().ToString();
  }
  void Resume() {
    MutexLock lock(mu_);
    held_.clear();
    resumed_.NotifyAll();
  }
  // Calls `fail` before each operation; an error is returned instead of the result.
  void FailWith(std::function<Status(const Operation&)> fail) {
    MutexLock lock(mu_);
    fail_ = std::move(fail);
  }
  // The same for lists, also those of caches.
  void FailListsWith(std::function<Status(const Resource&)> fail) {
    MutexLock lock(mu_);
    fail_list_ = std::move(fail);
  }
  // The number of operations that have ended.
  template <class T>
  size_t Count(Operation::Verb verb) const {
    MutexLock lock(mu_);
    return static_cast<size_t>(
        std::count(ended_.begin(), ended_.end(), Ended{verb, Resource::Of<T>().ToString()}));
  }
  // Waits until `holds` returns true; it is called now and after each operation.
  Status Await(const Context& ctx, const std::function<bool()>& holds) {
    return operation_ended_.Await(ctx, holds);
  }

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    Status failed;
    {
      MutexLock lock(mu_);
      if (fail_) failed = fail_(operation);
    }
    Result<Object> result = failed.ok() ? next().Execute(ctx, operation) : Result<Object>(failed);
    {
      MutexLock lock(mu_);
      ended_.push_back({operation.verb, operation.resource.ToString()});
    }
    operation_ended_.Changed();
    return result;
  }
  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    {
      MutexLock lock(mu_);
      if (fail_list_) COX_RETURN_IF_ERROR(fail_list_(resource));
    }
    return next().ListEach(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    COX_ASSIGN_OR_RETURN(auto stream, next().Watch(ctx, resource, options));
    return std::unique_ptr<WatchStream>(
        std::make_unique<Stream>(*this, resource.ToString(), std::move(stream)));
  }

 private:
  class Stream final : public WatchStream {
   public:
    Stream(LateClient& client, std::string resource, std::unique_ptr<WatchStream> inner)
        : client_(client), resource_(std::move(resource)), inner_(std::move(inner)) {}

    Result<WatchEvent<Object>> Next(Context& ctx) override {
      Result<WatchEvent<Object>> event = inner_->Next(ctx);
      MutexLock lock(client_.mu_);
      COX_RETURN_IF_ERROR(ctx.Await(client_.mu_, client_.resumed_, [this] {
        client_.mu_.AssertHeld();
        return client_.held_ != resource_;
      }));
      return event;
    }

   private:
    LateClient& client_;
    const std::string resource_;
    const std::unique_ptr<WatchStream> inner_;
  };

  struct Ended {
    Operation::Verb verb;
    std::string resource;
    bool operator==(const Ended&) const = default;
  };

  testkit::Signal operation_ended_;
  mutable Mutex mu_;
  CondVar resumed_;
  std::string held_ COX_GUARDED_BY(mu_);
  std::function<Status(const Operation&)> fail_ COX_GUARDED_BY(mu_);
  std::function<Status(const Resource&)> fail_list_ COX_GUARDED_BY(mu_);
  std::vector<Ended> ended_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::controllers
