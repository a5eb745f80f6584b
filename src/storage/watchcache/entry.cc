// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/entry.h"

#include <cstring>
#include <utility>

namespace cox::storage {
namespace {

// The bytes that std::allocate_shared takes beyond what the object and its counts need.
struct Tail {
  size_t size;
  const char* at = nullptr;  // known once the memory is there, which is before the object is
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
  // By the last reference, with a copy of the allocator whose tail has long gone.
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

// Reads the bytes of the entry it came from, which it keeps alive.
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
  // Nobody else has the entry yet.
  Put(Put(Put(const_cast<char*>(tail.at), key), head), value);
  return entry;
}

EntryPtr Entry::CreateDeleted(const EntryPtr& last, Revision revision) {
  return std::make_shared<Deleted>(Private{}, last, revision);
}

Entry::Entry(Private, EntryClassPtr type, const char* const& data, Sizes sizes, Revision revision)
    : type_(std::move(type)), data_(data), sizes_(sizes), revision_(revision) {}

Entry::~Entry() { type_->encodings->Forget(*this); }

Result<Bytes> Entry::Encoding(uint8_t slot, const Make& make) const {
  EncodingBudget& budget = *type_->encodings;
  if (std::optional<Bytes> kept = budget.Find(*this, slot)) return *std::move(kept);
  // Without a lock: two threads may make the same one at the same time, and one of the two is kept.
  COX_ASSIGN_OR_RETURN(Bytes made, make(*this));
  return budget.Keep(*this, slot, std::move(made));
}

}  // namespace cox::storage
