// SPDX-License-Identifier: Apache-2.0
#include "object/testing/cost_meter.h"

#include <malloc.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "base/heap.h"

namespace {

std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

// Not inlined, because g++ would warn about malloc combined with delete.
[[gnu::noinline]] void* Counted(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  int64_t live = live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  int64_t peak = peak_bytes;
  while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return memory;
}

[[gnu::noinline]] void Uncounted(void* memory) {
  if (memory == nullptr) return;
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Counted(size); }
void* operator new[](size_t size) { return Counted(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Counted(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Counted(size); }
void operator delete(void* memory) noexcept { Uncounted(memory); }
void operator delete[](void* memory) noexcept { Uncounted(memory); }
void operator delete(void* memory, size_t) noexcept { Uncounted(memory); }
void operator delete[](void* memory, size_t) noexcept { Uncounted(memory); }

namespace cox {
namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// The peak resident set since ResetPeak(); 0 if the kernel does not report it.
int64_t PeakResident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) * 1024;
  }
  return 0;
}

void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace

Cost Measure(const std::function<void()>& work) {
  // Same heap settings as in servers; otherwise the cost depends on previously freed memory.
  BoundHeap();
  Cost cost;
  ResetPeak();
  int64_t resident_before = PeakResident();
  int64_t before = live_bytes;
  peak_bytes = before;
  double start = CpuSeconds();
  work();
  cost.seconds = CpuSeconds() - start;
  cost.bytes = peak_bytes - before;
  cost.resident = PeakResident() - resident_before;
  return cost;
}

}  // namespace cox
