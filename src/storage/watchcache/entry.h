// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "object/encoded_object.h"
#include "storage/store.h"
#include "storage/watchcache/encoding_budget.h"
#include "storage/watchcache/head.h"

namespace cox::storage {

class Entry;
using EntryPtr = std::shared_ptr<const Entry>;

// State shared by all entries of one resource.
struct EntryClass {
  std::vector<std::string> field_names;
  std::shared_ptr<EncodingBudget> encodings;
  std::optional<size_t> indexed_field = std::nullopt;  // index in field_names
  bool namespaced = true;
  ObjectDecoder decode = nullptr;
};
using EntryClassPtr = std::shared_ptr<const EntryClass>;

// One object in the cache: its stored bytes, its head, and other forms that are created on demand:
// encodings, and the decoded object.
//
// Key, head and bytes never change. Another form is created when it is first used, shared by all
// readers, and discarded when EncodingBudget needs its memory.
//
// Memory: one allocation holds the reference counts, this object, key, head and bytes; about 120
//   bytes beyond key, head and bytes.
// Threads: all methods may be called concurrently.
class Entry : public EncodedObject, public std::enable_shared_from_this<Entry> {
  struct Private {};
  struct Sizes {
    uint32_t key;
    uint32_t head;
    uint32_t value;
  };

 public:
  // `head` is in the format of HeadBuilder. Copies all arguments.
  static EntryPtr Create(EntryClassPtr type, std::string_view key, std::string_view value,
                         std::string_view head, Revision revision);
  // The last state of a deleted object with the revision of the deletion. Shares the bytes.
  static EntryPtr CreateDeleted(const EntryPtr& last, Revision revision);

  // `data` refers to key, head and value.
  Entry(const char* data, Private, EntryClassPtr type, Sizes sizes, Revision revision);
  ~Entry() override;
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  std::string_view key() const { return {data_, sizes_.key}; }
  // The last part of the key, and the part before it.
  std::string_view name() const override { return key().substr(key().rfind('/') + 1); }
  std::string_view ns() const override;
  // Empty if the stored bytes cannot be decoded.
  std::string_view uid() const override { return UidOf(data_ + sizes_.key); }
  // The stored bytes. Use value() to keep them longer than the entry.
  std::string_view stored() const { return {data_ + sizes_.key + sizes_.head, sizes_.value}; }
  Bytes value() const { return {shared_from_this(), stored()}; }
  Revision revision() const { return revision_; }
  int64_t version() const override { return revision_; }

  std::optional<std::string_view> Label(std::string_view key) const override {
    return labels()(key);
  }
  HeadPairs labels() const { return LabelsOf(data_ + sizes_.key); }
  HeadPairs fields() const { return FieldsOf(data_ + sizes_.key, type_->field_names); }
  // The value of the indexed field; empty if the resource or the object has none.
  std::string_view indexed_value() const;

  // The encoding in `slot`, created by `make` if it does not exist. The registry assigns the slots
  // (JSON of v1, protobuf of v1, ...). An error of `make` is returned and not cached.
  using Make = std::function<Result<Bytes>(const Entry&)>;
  Result<Bytes> Encoding(uint8_t slot, const Make& make) const;
  // The object without managedFields, shared like an encoding. REQUIRES: decodable()
  ObjectPtr Decode() const override;
  // Whether there is a decoder and it can decode the stored bytes.
  bool decodable() const;

 private:
  class Deleted;
  friend class EncodingBudget;

  const EntryClassPtr type_;
  const char* const data_;  // key, head, value; stored behind this object or in another entry
  const Sizes sizes_;
  const Revision revision_;
  // Guarded by the lock of this entry's shard in the budget. Without it, only compare with null.
  mutable std::atomic<EncodingBudget::Kept*> kept_ = nullptr;
};

}  // namespace cox::storage
