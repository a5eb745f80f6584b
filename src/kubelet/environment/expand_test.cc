// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/expand.h"

#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

TEST(ExpandTest, ExpandsReferencesOnly) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"", ""},
      {"plain", "plain"},
      {"$(A)", "foo"},
      {"___$(A)___$(B)", "___foo___bar"},
      {"$(EMPTY)x", "x"},
      {"$(NONE)", "$(NONE)"},
      {"$$(A)", "$(A)"},
      {"$$$(A)", "$foo"},
      {"$$$$(A)", "$$(A)"},
      {"$(A", "$(A"},
      {"$A", "$A"},
      {"$", "$"},
      {"a$", "a$"},
      {"$()", "$()"},
      {"$($(A))", "$($(A))"},
      {"$(A)$(A)", "foofoo"},
      {"$ (A)", "$ (A)"},
      {"\xff$(B)",
       "\xff"
       "bar"},
  };
  for (const auto& [text, want] : kCases) {
    const std::string got = Expand(text, [](std::string_view name) -> std::optional<std::string> {
      if (name == "A") return "foo";
      if (name == "B") return "bar";
      if (name == "EMPTY") return "";
      return std::nullopt;
    });
    EXPECT_EQ(got, want) << text;
  }
}

}  // namespace
}  // namespace cox::kubelet
