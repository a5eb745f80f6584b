// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/registry/store/store.h"
#include "object/apply/field_manager.h"
#include "object/codec.h"
#include "storage/watchcache/entry.h"

namespace cox::apiserver {

class RegisteredKind;

// A resource at one of its paths: the kind in the version of that path, and the store of its
// objects.
//
// Threads: constant after construction.
// Ownership: part of a RegisteredKind. A request refers to it while it runs; users that need it for
//   longer (watches) call Hold.
class ServedResource {
 public:
  // `version` is null for the hub. `slot` is the index of its first encoding in storage::Entry.
  ServedResource(const RegisteredKind& owner, const KindInfo& kind, const ServedVersion* version,
                 uint8_t slot);
  ~ServedResource();

  // Keeps the resource and everything that it refers to alive, also when the kind is no longer
  // served.
  std::shared_ptr<const ServedResource> Hold() const;

  const KindInfo& kind() const { return kind_; }  // in the version of the path
  ResourceStore& store() const { return store_; }
  const Strategy& strategy() const { return store_.strategy(); }
  Resource resource() const { return {kind_.group, kind_.plural}; }
  GroupVersionKind gvk() const;
  const ServedVersion* version() const { return version_; }  // null: the hub itself
  // The resources of all versions of the kind, including this one.
  std::span<const std::unique_ptr<const ServedResource>> versions() const;

  Object ToHub(Object served) const;
  Object FromHub(const Object& hub) const;
  // Sets the defaults of the served version.
  void SetDefaults(Object& served) const;

  // The encoding of a cached object, JSON or protobuf, in the version of this path. It is encoded
  // once and shared. JSON is without a newline at the end.
  Result<Bytes> Encoded(const storage::Entry& entry, Format format) const;
  // The same for stored bytes that are not in the cache.
  Result<Bytes> Encode(std::string_view stored, storage::Revision revision, Format format) const;
  // The size of `{"kind":"Pod","apiVersion":"v1",`, which list items omit.
  size_t type_meta_size() const { return type_meta_size_; }

  // The field manager for writes on this path or on one of its subresources.
  const apply::FieldManager& field_manager(std::string_view subresource) const;

 private:
  class Versions;

  void AddFieldManager(std::string_view subresource);

  const RegisteredKind& owner_;
  const KindInfo& kind_;
  ResourceStore& store_;
  const ServedVersion* const version_;
  const uint8_t slot_;
  const size_t type_meta_size_;
  std::unique_ptr<Versions> versions_;  // null if there is only one version
  std::map<std::string, std::unique_ptr<apply::FieldManager>, std::less<>> managers_;
};

}  // namespace cox::apiserver
