// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "coxswain/cache.h"

namespace cox::sdk {

// One cached object: a shared object, or one block of encoded bytes preceded by the fields that
// lookups need. Created and read by an ItemForm. Cheap to copy.
//
// Guarantees: returned views stay valid while any copy of the Item exists.
// Threads: like a plain value; the referenced data is immutable.
class Item {
 public:
  Item() = default;

  bool empty() const { return object_ == nullptr && packed_ == nullptr; }
  std::string_view ns() const;
  std::string_view name() const;
  std::string_view uid() const;
  int64_t version() const { return version_; }
  // Approximate memory use.
  size_t bytes() const { return bytes_; }
  bool Matches(const labels::Selector& labels) const;
  ObjectKey key() const { return {std::string(ns()), std::string(name())}; }

 private:
  friend class ItemForm;
  struct Head;

  // Parts of packed_, stored in this order; their lengths are in Head.
  enum Part { kNs, kName, kUid, kLabels, kBody, kParts };
  std::string_view Packed(Part part) const;

  ObjectPtr object_;
  std::shared_ptr<const char[]> packed_;
  int64_t version_ = 0;
  uint32_t bytes_ = 0;
};

// Representation of the objects of one informer. Immutable.
// Threads: all methods may be called concurrently.
class ItemForm {
 public:
  ItemForm(const Resource& resource, bool metadata_only, const CacheScope& scope);

  const Resource& resource() const { return resource_; }
  bool metadata_only() const { return metadata_only_; }

  // Transforms, shrinks and packs the object according to the scope. A packed item also carries the
  // object for immediate use; WithoutObject returns the form that is stored.
  Item Make(ObjectPtr object) const;
  static Item WithoutObject(Item item);
  // The object for readers: shared, or decoded for this call.
  ObjectPtr Read(const Item& item) const;

  // True if the scope's selectors match the object. Fields are looked up by their JSON path, as in
  // the API's field selectors.
  bool Selects(const Object& object) const;
  // The object in the representation of this informer (struct, JSON value, metadata); null if it
  // cannot be converted.
  ObjectPtr Convert(ObjectPtr object) const;

 private:
  Item Pack(const Object& object) const;

  const Resource resource_;
  const bool metadata_only_;
  const CacheScope::Keep keep_;
  const std::function<void(Object&)> transform_;
  const labels::Selector labels_;
  const fields::Selector fields_;
  const KindInfo* const info_;  // null for JSON values
  const bool protobuf_;         // the kind has a protobuf encoding
};

}  // namespace cox::sdk
