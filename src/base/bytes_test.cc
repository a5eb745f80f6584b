// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace cox {
namespace {

TEST(Bytes, CopiesAndSlicesShareTheMemory) {
  const Bytes whole(std::string("hello world, this is longer than a small string"));
  const Bytes copy = whole;
  const Bytes slice = whole.Slice(6, 5);
  EXPECT_EQ(copy.data(), whole.data());
  EXPECT_EQ(slice.view(), "world");
  EXPECT_EQ(slice.data(), whole.data() + 6);
  EXPECT_EQ(slice.Slice(1).view(), "orld");
}

TEST(Bytes, SliceKeepsMemoryAlive) {
  Bytes slice;
  {
    const Bytes whole(std::string(1000, 'x') + "end");
    slice = whole.Slice(1000);
  }
  EXPECT_EQ(slice.view(), "end");
}

TEST(Bytes, SliceIsLimitedToTheEnd) {
  const Bytes bytes(std::string("abc"));
  EXPECT_EQ(bytes.Slice(1, 100).view(), "bc");
  EXPECT_EQ(bytes.Slice(3).view(), "");
  EXPECT_TRUE(bytes.Slice(3).empty());
}

TEST(Bytes, KeepsOwnerAliveForView) {
  auto owner = std::make_shared<const std::string>("owned");
  const std::weak_ptr<const std::string> watch = owner;
  {
    const Bytes bytes(owner, *owner);
    owner.reset();
    EXPECT_EQ(bytes.view(), "owned");
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Bytes, CompareByContent) {
  EXPECT_EQ(Bytes::Copy("abc"), Bytes(std::string("abc")));
  EXPECT_EQ(Bytes::Static("abc"), Bytes::Copy("abc"));
  EXPECT_EQ(Bytes(), Bytes::Copy(""));
  EXPECT_FALSE(Bytes::Static("abc") == Bytes::Static("abd"));
}

TEST(Bytes, MayContainAnyByte) {
  const std::string text("a\0b\xff", 4);
  EXPECT_EQ(Bytes::Copy(text).view(), text);
  EXPECT_EQ(Bytes::Copy(text).size(), 4u);
}

}  // namespace
}  // namespace cox
