// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "coxswain/cache.h"
#include "object/encoded_object.h"

namespace cox::sdk {

// One cached object: a decoded object, or an encoded one that is decoded for readers. Created by an
// ItemForm. Cheap to copy.
//
// Guarantees: returned views stay valid while any copy of the Item exists.
// Threads: like a plain value; the referenced data is immutable.
class Item {
 public:
  Item() = default;

  bool empty() const { return object_ == nullptr && encoded_ == nullptr; }
  std::string_view ns() const;
  std::string_view name() const;
  std::string_view uid() const;
  int64_t version() const { return version_; }
  // Approximate memory use; 0 for an object that is shared with the server's cache.
  size_t bytes() const { return bytes_; }
  bool Matches(const labels::Selector& labels) const;
  ObjectKey key() const { return {std::string(ns()), std::string(name())}; }
  // The object for readers: shared, or decoded for this call. Null if the item is empty.
  ObjectPtr Read() const;
  // True for the same version of the same object.
  bool IsVersionOf(const Item& other) const;
  // True if the object is one of the server's cache in this process.
  bool is_shared() const { return shared_; }

 private:
  friend class ItemForm;

  ObjectPtr object_;
  EncodedObjectPtr encoded_;
  int64_t version_ = 0;
  uint32_t bytes_ = 0;
  bool shared_ = false;
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
  // True if items can be objects of the server's cache, which have no managedFields and are not
  // transformed.
  bool shares_objects() const { return shares_objects_; }
  // REQUIRES: shares_objects(), and the decoded object is of the informer's kind.
  static Item Share(EncodedObjectPtr object);

  // True if the scope's selectors match the object. Fields are looked up by their JSON path, as in
  // the API's field selectors.
  bool Selects(const Object& object) const;
  // The object in the representation of this informer (struct, JSON value, metadata); null if it
  // cannot be converted.
  ObjectPtr Convert(ObjectPtr object) const;

 private:
  class Packed;
  struct Packing;

  std::shared_ptr<const Packed> Pack(const Object& object) const;

  const Resource resource_;
  const bool metadata_only_;
  const CacheScope::Keep keep_;
  const bool managed_fields_;
  const std::function<void(Object&)> transform_;
  const labels::Selector labels_;
  const fields::Selector fields_;
  const KindInfo* const info_;  // null for JSON values
  const bool shares_objects_;
  const std::shared_ptr<const Packing> packing_;
};

}  // namespace cox::sdk
