// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/entry.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/tail.h"
#include "object/object_size.h"

namespace cox::storage {
namespace {

// The budget keeps the decoded object in this slot. The registry assigns slots from 0 upwards.
constexpr uint8_t kDecodedSlot = 255;

char* Put(char* at, std::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

}  // namespace

// Shares the bytes of the original entry and keeps it alive.
class Entry::Deleted : public Entry {
 public:
  Deleted(Private, EntryPtr last, Revision revision)
      : Entry(last->data_, Private{}, last->type_, last->sizes_, revision),
        last_(std::move(last)) {}

 private:
  const EntryPtr last_;
};

EntryPtr Entry::Create(EntryClassPtr type, std::string_view key, std::string_view value,
                       std::string_view head, Revision revision) {
  const Sizes sizes{static_cast<uint32_t>(key.size()), static_cast<uint32_t>(head.size()),
                    static_cast<uint32_t>(value.size())};
  // The entry is not shared yet, so the const_cast is safe.
  auto entry = MakeSharedWithTail<Entry>(key.size() + head.size() + value.size(), Private{},
                                         std::move(type), sizes, revision);
  Put(Put(Put(const_cast<char*>(entry->data_), key), head), value);
  return entry;
}

EntryPtr Entry::CreateDeleted(const EntryPtr& last, Revision revision) {
  return std::make_shared<Deleted>(Private{}, last, revision);
}

Entry::Entry(const char* data, Private, EntryClassPtr type, Sizes sizes, Revision revision)
    : type_(std::move(type)), data_(data), sizes_(sizes), revision_(revision) {}

Entry::~Entry() { type_->encodings->Forget(*this); }

std::string_view Entry::indexed_value() const {
  if (!type_->indexed_field) return {};
  return fields()(type_->field_names[*type_->indexed_field]).value_or(std::string_view());
}

std::string_view Entry::ns() const {
  if (!type_->namespaced) return {};
  const size_t end = key().rfind('/');
  const size_t begin = key().rfind('/', end - 1) + 1;
  return key().substr(begin, end - begin);
}

// The functions below create a form without a lock: if two threads create the same form, one of
// them is kept.

Result<Bytes> Entry::Encoding(uint8_t slot, const Make& make) const {
  EncodingBudget& budget = *type_->encodings;
  if (auto kept = budget.Find(*this, slot)) return std::move(kept->bytes);
  COX_ASSIGN_OR_RETURN(Bytes made, make(*this));
  const size_t size = made.size();
  return budget.Keep(*this, slot, {.bytes = std::move(made), .object = nullptr}, size).bytes;
}

bool Entry::decodable() const {
  if (type_->decode == nullptr) return false;
  // The uid was read from the decoded object.
  return !uid().empty() || type_->decode(stored(), revision_) != nullptr;
}

ObjectPtr Entry::Decode() const {
  EncodingBudget& budget = *type_->encodings;
  if (auto kept = budget.Find(*this, kDecodedSlot)) return std::move(kept->object);
  ObjectPtr made = type_->decode(stored(), revision_);
  COX_CHECK(made != nullptr) << "the stored bytes of " << key() << " cannot be decoded";
  const size_t size = SizeInMemory(*made);
  return budget.Keep(*this, kDecodedSlot, {.bytes = {}, .object = std::move(made)}, size).object;
}

}  // namespace cox::storage
