// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/head.h"

#include "base/check.h"

namespace cox::storage {
namespace {

void PutSize(std::string& out, size_t size) {
  while (size >= 0x80) {
    out += static_cast<char>(size | 0x80);
    size >>= 7;
  }
  out += static_cast<char>(size);
}

// The data was written by PutSize in this process, so it is not validated.
size_t TakeSize(const char*& at) {
  size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    size |= static_cast<size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return size;
  }
}

void PutText(std::string& out, std::string_view text) {
  PutSize(out, text.size());
  out += text;
}

std::string_view TakeText(const char*& at) {
  const size_t size = TakeSize(at);
  const std::string_view text(at, size);
  at += size;
  return text;
}

// nullopt if the object does not have the field.
std::optional<std::string_view> TakeField(const char*& at) {
  const size_t size = TakeSize(at);
  if (size == 0) return std::nullopt;
  const std::string_view text(at, size - 1);
  at += size - 1;
  return text;
}

}  // namespace

void HeadPairs::Iterator::Read() {
  for (; index_ < pairs_.count_; ++index_) {
    if (pairs_.names_ == nullptr) {
      pair_.first = TakeText(next_);
      pair_.second = TakeText(next_);
      return;
    }
    if (const auto value = TakeField(next_)) {
      pair_ = {(*pairs_.names_)[index_], *value};
      return;
    }
  }
}

std::optional<std::string_view> HeadPairs::operator()(std::string_view name) const {
  const char* at = at_;
  for (size_t i = 0; i < count_; ++i) {
    if (names_ == nullptr) {
      const std::string_view key = TakeText(at);
      const std::string_view value = TakeText(at);
      if (key == name) return value;
    } else {
      const auto value = TakeField(at);
      if ((*names_)[i] == name) return value;
    }
  }
  return std::nullopt;
}

void HeadBuilder::Uid(std::string_view uid) { uid_ = uid; }

void HeadBuilder::Label(std::string_view key, std::string_view value) {
  PutText(pairs_, key);
  PutText(pairs_, value);
  ++labels_;
}

void HeadBuilder::Field(size_t index, std::string_view value) {
  COX_CHECK(index >= next_field_ && index < fields_) << "fields come in the order of their names";
  for (; next_field_ < index; ++next_field_) values_ += '\0';
  PutSize(values_, value.size() + 1);
  values_ += value;
  ++next_field_;
}

std::string_view HeadBuilder::Finish() {
  for (; next_field_ < fields_; ++next_field_) values_ += '\0';
  packed_.clear();
  PutText(packed_, uid_);
  PutSize(packed_, labels_);
  packed_ += pairs_;
  packed_ += values_;
  labels_ = next_field_ = 0;
  uid_.clear();
  pairs_.clear();
  values_.clear();
  return packed_;
}

std::string_view UidOf(const char* head) { return TakeText(head); }

HeadPairs LabelsOf(const char* head) {
  TakeText(head);  // the uid
  const size_t count = TakeSize(head);
  return {head, count, nullptr};
}

HeadPairs FieldsOf(const char* head, const HeadPairs::Names& names) {
  TakeText(head);  // the uid
  for (size_t strings = 2 * TakeSize(head); strings > 0; --strings) TakeText(head);
  return {head, names.size(), &names};
}

}  // namespace cox::storage
