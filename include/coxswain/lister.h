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

// Reads of an informer's copy, in structs: no request, no copy of objects.
//
//   Lister<core::v1::Pod> pods = cache.ListerOf<core::v1::Pod>();
//   if (std::shared_ptr<const core::v1::Pod> pod = pods.Get({"default", "web"})) ...
//
// A handle: copies read the same informer. Threads: may be used concurrently.
template <class T>
class Lister {
 public:
  using Ptr = std::shared_ptr<const T>;

  explicit Lister(std::shared_ptr<const SharedInformer> shared) : shared_(std::move(shared)) {}

  // Null if there is none.
  Ptr Get(const ObjectKey& key) const { return As<T>(shared_->Get(key)); }
  std::vector<Ptr> List(std::string_view ns = "", const labels::Selector& labels = {}) const {
    return Cast(shared_->List(ns, labels));
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

// Finds objects by something that is in them. The key extractor is part of the type: an index
// cannot be asked with the values of another.
//
//   struct NodeName {                                       // what the index is called and made of
//     static constexpr std::string_view kName = "spec.nodeName";
//     static std::string Of(const core::v1::Pod& pod) { return pod.spec.nodeName; }
//   };
//   Index<core::v1::Pod, NodeName> by_node = cache.IndexOf<core::v1::Pod, NodeName>();
//   for (const auto& pod : by_node.Find("node-1")) ...
//
// `Of` gives a std::string or a vector of them; empty strings index nothing.
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

 private:
  std::shared_ptr<SharedInformer> shared_;
};

}  // namespace cox
