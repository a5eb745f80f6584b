// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <gtest/gtest.h>

namespace cox::base64 {
namespace {

TEST(Base64Test, EncodesAndDecodesEveryLength) {
  const struct {
    std::string_view bytes, text;
  } kCases[] = {
      {"", ""},
      {"f", "Zg"},
      {"fo", "Zm8"},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg"},
      {"fooba", "Zm9vYmE"},
      {"\xfb\xff\xfe", "-__-"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(EncodeUrl(c.bytes), c.text);
    EXPECT_EQ(DecodeUrl(c.text), c.bytes);
  }
}

TEST(Base64Test, RejectsInvalidCharactersAndLengths) {
  for (std::string_view text : {"Zg==", "Zm+v", "Zm/v", "Z", "Zm9vY", "Zm 9"}) {
    EXPECT_EQ(DecodeUrl(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cox::base64
