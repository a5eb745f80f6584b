// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>

namespace cox {
namespace {

// The number of additional mmapped blocks while a block of `size` is allocated.
size_t MappedBy(size_t size) {
  const size_t before = mallinfo2().hblks;
  void* volatile block = std::malloc(size);
  const size_t mapped = mallinfo2().hblks - before;
  std::free(block);
  return mapped;
}

TEST(BoundHeap, LargeBlocksAlwaysUseMmap) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer brings its own heap";
#endif
#endif
  BoundHeap();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(MappedBy(size_t{8} << 20), 1u);
  EXPECT_EQ(MappedBy(size_t{1} << 16), 0u);
}

}  // namespace
}  // namespace cox
