// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cox::storage {

// What selectors look at, read once when the object enters the cache: labels, and the fields that
// selectors of the kind may name. Packed into one run of bytes beside the object, because there is
// one for each object:
//   count of labels, then key and value of each; then the value of each field in the order of the
//   kind's field names. Lengths come first, as varints; a field that the object does not have is
//   a lone 0, others have their length + 1.

// A reader of packed pairs: a range of (name, value), and what LabelView is made from.
//
//   const HeadPairs labels = entry.labels();
//   if (selector.Matches(labels)) ...
//
// Ownership: borrows from the Entry it came from, as do the views it gives out.
class HeadPairs {
 public:
  using Names = std::vector<std::string>;

  // `names` is null where the names are packed beside the values.
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
  // None: there is no such label, or the object does not have the field.
  std::optional<std::string_view> operator()(std::string_view name) const;

 private:
  const char* at_;
  size_t count_;  // fields that are absent count
  const Names* names_;
};

// Where a HeadReader puts what it found. Reused from object to object.
//
// REQUIRES: all labels before the first field, fields in the order of the reader's names.
class HeadBuilder {
 public:
  explicit HeadBuilder(size_t fields) : fields_(fields) {}

  void Label(std::string_view key, std::string_view value);
  // The field with number `index` in HeadReader::field_names().
  void Field(size_t index, std::string_view value);

  // The packed head; valid until the next call of anything here. Starts over.
  std::string_view Finish();

 private:
  const size_t fields_;
  size_t labels_ = 0;
  size_t next_field_ = 0;
  std::string pairs_;   // packed labels
  std::string values_;  // packed fields
  std::string packed_;
};

// Reads heads from stored bytes. One per resource, made by the registry from the kind's strategy.
//
// Threads: Read() may be called concurrently.
class HeadReader {
 public:
  virtual ~HeadReader() = default;

  // The fields selectors of the kind may name besides metadata.name and metadata.namespace, which
  // the key tells. Constant.
  virtual std::vector<std::string> field_names() const { return {}; }

  // An object that cannot be decoded gets an empty head and stays in the cache: it must not stop
  // others from being served.
  virtual void Read(std::string_view key, std::string_view value, HeadBuilder& head) const = 0;
};

// Packed heads start with the labels; where the fields begin is behind them.
HeadPairs LabelsOf(const char* head);
HeadPairs FieldsOf(const char* head, const HeadPairs::Names& names);

}  // namespace cox::storage
