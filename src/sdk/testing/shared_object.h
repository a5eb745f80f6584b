// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "api/meta/v1.h"
#include "object/encoded_object.h"

// For tests: an EncodedObject that is not encoded, and counts how often it is decoded.
namespace cox::sdk {

class SharedObject final : public EncodedObject {
 public:
  explicit SharedObject(Object object)
      : object_(std::make_shared<const Object>(std::move(object))) {}

  std::string_view ns() const override { return object_->object_meta()->namespace_; }
  std::string_view name() const override { return object_->object_meta()->name; }
  std::string_view uid() const override { return object_->object_meta()->uid; }
  int64_t version() const override {
    return std::atoll(object_->object_meta()->resourceVersion.c_str());
  }
  std::optional<std::string_view> Label(std::string_view key) const override {
    const auto& labels = object_->object_meta()->labels;
    const auto found = labels.find(key);
    if (found == labels.end()) return std::nullopt;
    return found->second;
  }
  ObjectPtr Decode() const override {
    decoded_.fetch_add(1, std::memory_order_relaxed);
    return object_;
  }

  const ObjectPtr& object() const { return object_; }
  int decoded() const { return decoded_.load(std::memory_order_relaxed); }

 private:
  const ObjectPtr object_;
  mutable std::atomic<int> decoded_ = 0;
};

}  // namespace cox::sdk
