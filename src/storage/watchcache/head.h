// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "object/object.h"
#include "storage/store.h"

namespace cox::storage {

// The head of an object contains the data that are read without decoding it, extracted once when
// the object enters the cache: its uid, its labels, and the fields that selectors of the kind
// support. It is packed into one byte string next to the object, to save memory:
//   the uid; the number of labels, then key and value of each; then the value of each field in the
//   order of the kind's field names. Strings have a varint length prefix; for fields it is the
//   length + 1, or 0 if the object does not have the field.

// A view of packed (name, value) pairs. A LabelView can be created from it.
//
//   const HeadPairs labels = entry.labels();
//   if (selector.Matches(labels)) ...
//
// Ownership: borrows from its Entry, as do the returned views.
class HeadPairs {
 public:
  using Names = std::vector<std::string>;

  // `names` is null if the names are packed with the values.
  HeadPairs(const char* at, size_t count, const Names* names)
      : at_(at), count_(count), names_(names) {}

  class Iterator {
   public:
    using value_type = std::pair<std::string_view, std::string_view>;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const value_type*;
    using reference = const value_type&;

    Iterator(const HeadPairs& pairs, size_t index)
        : pairs_(pairs), next_(pairs.at_), index_(index) {
      Read();
    }
    reference operator*() const { return pair_; }
    pointer operator->() const { return &pair_; }
    Iterator& operator++() {
      ++index_;
      Read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    void Read();

    const HeadPairs& pairs_;
    const char* next_;
    size_t index_;
    value_type pair_;
  };

  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, count_); }
  // nullopt if the label does not exist, or the object does not have the field.
  std::optional<std::string_view> operator()(std::string_view name) const;

 private:
  const char* at_;
  size_t count_;  // includes absent fields
  const Names* names_;
};

// Collects the output of a HeadReader. Reused for many objects.
//
// REQUIRES: Field is called in the order of HeadReader::field_names().
class HeadBuilder {
 public:
  explicit HeadBuilder(size_t fields) : fields_(fields) {}

  void Uid(std::string_view uid);
  void Label(std::string_view key, std::string_view value);
  // The field with number `index` in HeadReader::field_names().
  void Field(size_t index, std::string_view value);

  // Returns the packed head, valid until the next call of any method, and resets the builder.
  std::string_view Finish();

 private:
  const size_t fields_;
  std::string uid_;
  size_t labels_ = 0;
  size_t next_field_ = 0;
  std::string pairs_;   // packed labels
  std::string values_;  // packed fields
  std::string packed_;
};

// Decodes the stored bytes of an object that has the given revision. Null: the bytes cannot be
// decoded.
using ObjectDecoder = std::function<ObjectPtr(std::string_view value, Revision revision)>;

// Extracts heads from stored bytes. One per resource, created by the registry from the kind's
// strategy.
//
// Threads: Read() may be called concurrently.
class HeadReader {
 public:
  virtual ~HeadReader() = default;

  // The fields that selectors of the kind support, except metadata.name and metadata.namespace,
  // which are part of the key. Constant.
  virtual std::vector<std::string> field_names() const { return {}; }
  // The number of the field by which the cache indexes objects and watchers; nullopt: none. A field
  // is worth an index if many clients select by it, each a small part of all objects. Constant.
  virtual std::optional<size_t> indexed_field() const { return std::nullopt; }
  // True if the keys contain a namespace. Constant.
  virtual bool namespaced() const { return true; }
  // For Entry::Decode. Entries may call it after the reader has been destroyed.
  virtual ObjectDecoder decoder() const { return nullptr; }

  // An object that cannot be decoded gets an empty head and stays in the cache, so that it does not
  // block other objects.
  virtual void Read(std::string_view key, std::string_view value, HeadBuilder& head) const = 0;
};

// The parts of a packed head.
std::string_view UidOf(const char* head);
HeadPairs LabelsOf(const char* head);
HeadPairs FieldsOf(const char* head, const HeadPairs::Names& names);

}  // namespace cox::storage
