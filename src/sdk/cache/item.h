// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "coxswain/cache.h"

namespace cox::sdk {

// One object as a cache keeps it: shared as it came, or as one block of encoded bytes with what
// lookups need in front of it. Made and read by an ItemForm. A cheap value.
//
// Guarantees: what the views show stays where it is as long as a copy of the Item lives.
// Threads: as a plain value; what it refers to is constant.
class Item {
 public:
  Item() = default;

  bool empty() const { return object_ == nullptr && packed_ == nullptr; }
  std::string_view ns() const;
  std::string_view name() const;
  std::string_view uid() const;
  int64_t version() const { return version_; }
  // What it takes in memory, about.
  size_t bytes() const { return bytes_; }
  bool Matches(const labels::Selector& labels) const;
  ObjectKey key() const { return {std::string(ns()), std::string(name())}; }

 private:
  friend class ItemForm;
  struct Head;

  // Parts of packed_: which one lies where follows from the lengths in its Head.
  enum Part { kNs, kName, kUid, kLabels, kBody, kParts };
  std::string_view Packed(Part part) const;

  ObjectPtr object_;
  std::shared_ptr<const char[]> packed_;
  int64_t version_ = 0;
  uint32_t bytes_ = 0;
};

// How the objects of one informer are represented and kept. Constant.
// Threads: all methods may be called concurrently.
class ItemForm {
 public:
  ItemForm(const Resource& resource, bool metadata_only, const CacheScope& scope);

  const Resource& resource() const { return resource_; }
  bool metadata_only() const { return metadata_only_; }

  // Transformed, shrunk, packed: as the scope says. One that is packed carries the object besides,
  // for those who look at it right now: WithoutObject is what is kept.
  Item Make(ObjectPtr object) const;
  static Item WithoutObject(Item item);
  // The object as readers get it: shared, or decoded for this one.
  ObjectPtr Read(const Item& item) const;

  // Whether the scope's selectors choose the object. Fields are looked up by their path in the
  // JSON form, which is what field selectors of the API name.
  bool Selects(const Object& object) const;
  // The object in the representation of this informer (struct, JSON value, metadata); null if it
  // has no such form.
  ObjectPtr Convert(ObjectPtr object) const;

 private:
  Item Pack(const Object& object) const;

  const Resource resource_;
  const bool metadata_only_;
  const CacheScope::Keep keep_;
  const std::function<void(Object&)> transform_;
  const labels::Selector labels_;
  const fields::Selector fields_;
  const KindInfo* const info_;  // of the structs; null for JSON values
  const bool protobuf_;         // the kind has that form
};

}  // namespace cox::sdk
