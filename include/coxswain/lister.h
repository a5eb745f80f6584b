// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coxswain/informer.h"

namespace cox {

// Typed reads from an informer's cache, without requests and without copies.
//
//   Lister<core::v1::Pod> pods = cache.ListerOf<core::v1::Pod>();
//   if (std::shared_ptr<const core::v1::Pod> pod = pods.Get({"default", "web"})) ...
//
// A handle: copies read the same informer.
// Threads: all methods may be called concurrently.
template <class T>
class Lister {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Lister(std::shared_ptr<const SharedInformer> shared) : shared_(std::move(shared)) {}

  // Null if the object does not exist.
  Ptr Get(const ObjectKey& key) const { return As<T>(shared_->Get(key)); }
  std::vector<Ptr> List(std::string_view ns = "", const labels::Selector& labels = {}) const {
    return Cast(shared_->List(ns, labels));
  }
  // See SharedInformer::ForEach.
  template <class Function>
  void ForEach(const Function& visit) const {
    shared_->ForEach("", [&visit](const ObjectPtr& object) {
      const T* typed = object->As<T>();
      return typed == nullptr || visit(*typed);
    });
  }
  size_t size() const { return shared_->size(); }

  static std::vector<Ptr> Cast(const std::vector<ObjectPtr>& objects) {
    std::vector<Ptr> out;
    out.reserve(objects.size());
    for (const ObjectPtr& object : objects) out.push_back(As<T>(object));
    return out;
  }

 private:
  std::shared_ptr<const SharedInformer> shared_;
};

// Finds objects by an indexed value. The key extractor is part of the type, so that an index cannot
// be used with the values of another one.
//
//   struct NodeName {                                       // the index's name and its values
//     static constexpr std::string_view kName = "spec.nodeName";
//     static std::string Of(const core::v1::Pod& pod) { return pod.spec.nodeName; }
//   };
//   Index<core::v1::Pod, NodeName> by_node = cache.IndexOf<core::v1::Pod, NodeName>();
//   for (const auto& pod : by_node.Find("node-1")) ...
//
// `Of` returns a std::string or a vector of them; empty strings are not indexed.
template <class T, class Key>
class Index {
 public:
  explicit Index(std::shared_ptr<SharedInformer> shared) : shared_(std::move(shared)) {
    shared_->AddIndex(std::string(Key::kName), [](const Object& object) {
      std::vector<std::string> values;
      if (const T* typed = object.As<T>()) {
        if constexpr (std::is_convertible_v<decltype(Key::Of(*typed)), std::string>) {
          values.push_back(Key::Of(*typed));
        } else {
          auto found = Key::Of(*typed);
          values.assign(std::make_move_iterator(found.begin()),
                        std::make_move_iterator(found.end()));
        }
      }
      std::erase(values, "");
      return values;
    });
  }

  std::vector<std::shared_ptr<const T>> Find(std::string_view value) const {
    return Lister<T>::Cast(shared_->Find(Key::kName, value));
  }
  // As Find, without copies: calls `visit` for each object until it returns false; see
  // SharedInformer::Visit.
  template <class Function>
  void Visit(std::string_view value, const Function& visit) const {
    shared_->Visit(Key::kName, value, [&visit](const Object& object) {
      const T* typed = object.As<T>();
      return typed == nullptr || visit(*typed);
    });
  }
  SharedInformer& shared() const { return *shared_; }

 private:
  std::shared_ptr<SharedInformer> shared_;
};

}  // namespace cox
