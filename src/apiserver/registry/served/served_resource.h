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

// A resource under one of its paths: the kind in the version of that path, and the store of its
// objects.
//
// Threads: constant after construction.
// Ownership: part of a RegisteredKind. A request refers to it while it works; whoever needs it for
// longer (a watch) holds it.
class ServedResource {
 public:
  // `version` is null for the hub. `slot` is its first place among the encodings of an entry.
  ServedResource(const RegisteredKind& owner, const KindInfo& kind, const ServedVersion* version,
                 uint8_t slot);
  ~ServedResource();

  // Keeps the resource and everything that it refers to, also when the kind is no longer served.
  std::shared_ptr<const ServedResource> Hold() const;

  const KindInfo& kind() const { return kind_; }  // in the version of the path
  ResourceStore& store() const { return store_; }
  const Strategy& strategy() const { return store_.strategy(); }
  Resource resource() const { return {kind_.group, kind_.plural}; }
  GroupVersionKind gvk() const;
  const ServedVersion* version() const { return version_; }  // null: the hub itself
  // The resources of the same objects, one for each version, including this one.
  std::span<const std::unique_ptr<const ServedResource>> versions() const;

  Object ToHub(Object served) const;
  Object FromHub(const Object& hub) const;
  // Sets the defaults of the served version.
  void SetDefaults(Object& served) const;

  // An object of the cache as clients of this path read it, JSON or protobuf, encoded once and
  // shared. JSON is without a newline at the end.
  Result<Bytes> Encoded(const storage::Entry& entry, Format format) const;
  // The same for bytes that are not in the cache.
  Result<Bytes> Encode(std::string_view stored, storage::Revision revision, Format format) const;
  // The size of `{"kind":"Pod","apiVersion":"v1",`: the items of lists do not have it.
  size_t type_meta_size() const { return type_meta_size_; }

  // Tracks the owners of fields, for writes on this path and on one of its subresources.
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
