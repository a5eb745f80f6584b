// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/entry.h"

#include <cstring>
#include <utility>

namespace cox::storage {
namespace {

// The extra bytes that std::allocate_shared allocates behind the object and its counts.
struct Tail {
  size_t size;
  const char* at = nullptr;  // set by allocate(), before the object is constructed
};

template <class T>
struct TailAllocator {
  using value_type = T;

  explicit TailAllocator(Tail& tail) : tail(&tail) {}
  template <class U>
  TailAllocator(const TailAllocator<U>& other) : tail(other.tail) {}  // NOLINT: allocators rebind

  T* allocate(size_t count) {
    char* memory = static_cast<char*>(::operator new(count * sizeof(T) + tail->size));
    tail->at = memory + count * sizeof(T);
    return reinterpret_cast<T*>(memory);
  }
  // Called by the last reference with a copy of the allocator; `tail` is dangling then.
  void deallocate(T* memory, size_t) { ::operator delete(static_cast<void*>(memory)); }

  template <class U>
  bool operator==(const TailAllocator<U>&) const {
    return true;
  }

  Tail* tail;
};

char* Put(char* at, std::string_view text) {
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

}  // namespace

// Shares the bytes of the original entry and keeps it alive.
class Entry::Deleted : public Entry {
 public:
  Deleted(Private, EntryPtr last, Revision revision)
      : Entry(Private{}, last->type_, last->data_, last->sizes_, revision),
        last_(std::move(last)) {}

 private:
  const EntryPtr last_;
};

EntryPtr Entry::Create(EntryClassPtr type, std::string_view key, std::string_view value,
                       std::string_view head, Revision revision) {
  const Sizes sizes{static_cast<uint32_t>(key.size()), static_cast<uint32_t>(head.size()),
                    static_cast<uint32_t>(value.size())};
  Tail tail{key.size() + head.size() + value.size()};
  auto entry = std::allocate_shared<Entry>(TailAllocator<Entry>(tail), Private{}, std::move(type),
                                           tail.at, sizes, revision);
  // The entry is not shared yet, so the const_cast is safe.
  Put(Put(Put(const_cast<char*>(tail.at), key), head), value);
  return entry;
}

EntryPtr Entry::CreateDeleted(const EntryPtr& last, Revision revision) {
  return std::make_shared<Deleted>(Private{}, last, revision);
}

Entry::Entry(Private, EntryClassPtr type, const char* const& data, Sizes sizes, Revision revision)
    : type_(std::move(type)), data_(data), sizes_(sizes), revision_(revision) {}

Entry::~Entry() { type_->encodings->Forget(*this); }

std::string_view Entry::indexed_value() const {
  if (!type_->indexed_field) return {};
  return fields()(type_->field_names[*type_->indexed_field]).value_or(std::string_view());
}

Result<Bytes> Entry::Encoding(uint8_t slot, const Make& make) const {
  EncodingBudget& budget = *type_->encodings;
  if (std::optional<Bytes> kept = budget.Find(*this, slot)) return *std::move(kept);
  // Runs without a lock: if two threads create the same encoding, one of them is kept.
  COX_ASSIGN_OR_RETURN(Bytes made, make(*this));
  return budget.Keep(*this, slot, std::move(made));
}

}  // namespace cox::storage
