// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace cox {
namespace {

int Open() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(FdTest, DestructorClosesDescriptor) {
  int number = -1;
  {
    const Fd fd(Open());
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(FdTest, NegativeDescriptorIsInvalid) {
  EXPECT_FALSE(Fd().valid());
  EXPECT_FALSE(Fd(-1).valid());
}

TEST(FdTest, MoveTransfersOwnership) {
  Fd first(Open());
  const int number = first.get();
  Fd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): tests the moved-from state
  EXPECT_EQ(second.get(), number);
  Fd third(Open());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_EQ(third.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(FdTest, ReleaseKeepsDescriptorOpen) {
  Fd fd(Open());
  Fd other(fd.Release());
  EXPECT_FALSE(fd.valid());
  fd.Reset();
  EXPECT_TRUE(IsOpen(other.get()));
}

TEST(FdTest, ResetClosesPreviousDescriptor) {
  Fd fd(Open());
  const int old = fd.get();
  const int next = Open();
  fd.Reset(next);
  EXPECT_FALSE(IsOpen(old));
  EXPECT_EQ(fd.get(), next);
  EXPECT_TRUE(IsOpen(next));
}

}  // namespace
}  // namespace cox
