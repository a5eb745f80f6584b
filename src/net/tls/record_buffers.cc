// SPDX-License-Identifier: Apache-2.0
#include "net/tls/record_buffers.h"

#include <openssl/crypto.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace cox::net {
namespace {

constexpr size_t kSlots = 16 * 1024;
// Free slots that keep their memory: enough for the concurrent use of a few loops.
constexpr size_t kKeptSlots = 16;

// An address range divided into slots. Lives as long as the process.
class Slots {
 public:
  Slots() {
    void* const range = mmap(nullptr, kSlots * RecordBuffers::kMax, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) range_ = static_cast<char*>(range);
  }

  bool Owns(const void* memory) const {
    const char* const at = static_cast<const char*>(memory);
    return range_ != nullptr && at >= range_ && at < range_ + kSlots * RecordBuffers::kMax;
  }

  void* Take() {
    if (range_ == nullptr) return nullptr;
    MutexLock lock(mu_);
    std::vector<uint32_t>& from = kept_.empty() ? empty_ : kept_;
    if (!from.empty()) {
      const uint32_t slot = from.back();
      from.pop_back();
      return At(slot);
    }
    return used_ < kSlots ? At(used_++) : nullptr;
  }

  void Give(void* memory) {
    const auto slot =
        static_cast<uint32_t>((static_cast<char*>(memory) - range_) / RecordBuffers::kMax);
    {
      MutexLock lock(mu_);
      if (kept_.size() < kKeptSlots) {
        kept_.push_back(slot);
        return;
      }
    }
    madvise(memory, RecordBuffers::kMax, MADV_DONTNEED);
    MutexLock lock(mu_);
    empty_.push_back(slot);
  }

 private:
  void* At(uint32_t slot) const { return range_ + size_t{slot} * RecordBuffers::kMax; }

  char* range_ = nullptr;
  Mutex mu_;
  uint32_t used_ COX_GUARDED_BY(mu_) = 0;            // slots ever used
  std::vector<uint32_t> kept_ COX_GUARDED_BY(mu_);   // free, with memory
  std::vector<uint32_t> empty_ COX_GUARDED_BY(mu_);  // free, without memory
};

Slots& TheSlots() {
  // Never destroyed: OpenSSL frees memory until the end of the process.
  alignas(Slots) static char storage[sizeof(Slots)];
  static Slots* const slots = std::construct_at(reinterpret_cast<Slots*>(storage));
  return *slots;
}

void* Malloc(size_t size, const char*, int) {
  if (void* const memory = RecordBuffers::Allocate(size)) return memory;
  return std::malloc(size);
}

void Free(void* memory, const char*, int) {
  if (!RecordBuffers::Release(memory)) std::free(memory);
}

void* Realloc(void* memory, size_t size, const char* file, int line) {
  if (!RecordBuffers::Owns(memory)) {
    if (memory == nullptr) return Malloc(size, file, line);  // a new buffer
    return std::realloc(memory, size);
  }
  if (size <= RecordBuffers::kMax) return memory;
  void* const moved = std::malloc(size);
  if (moved != nullptr) {
    std::memcpy(moved, memory, RecordBuffers::kMax);
    Free(memory, file, line);
  }
  return moved;
}

}  // namespace

bool RecordBuffers::Install() {
  static const bool installed = CRYPTO_set_mem_functions(Malloc, Realloc, Free) == 1;
  return installed;
}

void* RecordBuffers::Allocate(size_t size) {
  return size >= kMin && size <= kMax ? TheSlots().Take() : nullptr;
}

bool RecordBuffers::Release(void* memory) {
  if (!TheSlots().Owns(memory)) return false;
  TheSlots().Give(memory);
  return true;
}

bool RecordBuffers::Owns(const void* memory) { return TheSlots().Owns(memory); }

}  // namespace cox::net
