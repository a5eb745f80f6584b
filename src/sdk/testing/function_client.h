// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "coxswain/client.h"

namespace cox::sdk {

// For tests: a client whose verbs call a function of the test, or an overridden Execute. List,
// watch and discovery return nothing.
class FunctionClient : public Client {
 public:
  std::function<Result<Object>(Context&, const Operation&)> execute;

  Result<Object> Execute(Context& ctx, const Operation& operation) override {
    return execute(ctx, operation);
  }
  Result<std::string> ListEach(Context&, const Resource&, const ListOptions&,
                               const std::function<Status(Object)>&) override {
    return std::string();
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context&, const Resource&,
                                             const WatchOptions&) override {
    return Status::Unavailable("no watches");
  }
  Result<std::string> ListMetadata(Context&, const Resource&, const ListOptions&,
                                   const std::function<Status(Object)>&) override {
    return std::string();
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context&, const Resource&,
                                                     const WatchOptions&) override {
    return Status::Unavailable("no watches");
  }
  Result<Resource> Discover(Context&, const GroupVersionKind& gvk) override {
    return Status::NotFound(gvk.ToString());
  }
  Transport& transport() override { std::abort(); }
  const std::string& default_namespace() const override { return namespace_; }

 private:
  const std::string namespace_ = "default";
};

}  // namespace cox::sdk
