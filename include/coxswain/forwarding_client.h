// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "coxswain/client.h"

namespace cox {

// Sends every call to another client. A class that wraps a client derives from it and overrides the
// methods whose behaviour it changes.
//
//   class Counting final : public ForwardingClient {
//    public:
//     using ForwardingClient::ForwardingClient;
//     Result<Object> Execute(Context& ctx, const Operation& operation) override {
//       ++calls_;
//       return next().Execute(ctx, operation);
//     }
//     ...
//   };
//
// Ownership: the other client outlives this one.
class ForwardingClient : public Client {
 public:
  explicit ForwardingClient(Client& next) : next_(next) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    return next_.Execute(ctx, operation);
  }
  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    return next_.ListEach(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    return next_.Watch(ctx, resource, options);
  }
  Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                   const ListOptions& options,
                                   const std::function<Status(Object)>& take) override {
    return next_.ListMetadata(ctx, resource, options, take);
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) override {
    return next_.WatchMetadata(ctx, resource, options);
  }
  Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) override {
    return next_.Discover(ctx, gvk);
  }
  Transport& transport() override { return next_.transport(); }
  const std::string& default_namespace() const override { return next_.default_namespace(); }

 protected:
  Client& next() { return next_; }

 private:
  Client& next_;
};

}  // namespace cox
