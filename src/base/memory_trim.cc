// SPDX-License-Identifier: Apache-2.0
#include "base/memory_trim.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

namespace cox {
namespace {

// Only read-only segments: a dropped page is read from the file again. Relocated constants are in
// segments that are writable by their header.
int DropCode(dl_phdr_info* object, size_t, void*) {
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const ElfW(Addr) begin = (object->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const ElfW(Addr) end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    // Only advice: a failure has no effect.
    (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

bool HasTextRelocations(const dl_phdr_info* object) {
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_TEXTREL) return true;
      if (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0) return true;
    }
  }
  return false;
}

}  // namespace

void TrimMemory() {
  malloc_trim(0);
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t size, void* data) {
        // Code that was relocated must stay, and so must the vDSO, which has no file.
        if (HasTextRelocations(object) || object->dlpi_name == nullptr) return 0;
        if (std::string_view(object->dlpi_name).starts_with("linux-vdso")) return 0;
        return DropCode(object, size, data);
      },
      nullptr);
}

}  // namespace cox
