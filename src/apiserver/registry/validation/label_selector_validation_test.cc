// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/label_selector_validation.h"

#include <gtest/gtest.h>

#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

meta::v1::LabelSelector Parse(std::string_view text) {
  Result<meta::v1::LabelSelector> selector = json::Decode<meta::v1::LabelSelector>(text);
  EXPECT_TRUE(selector.ok()) << text;
  return selector.ok() ? *std::move(selector) : meta::v1::LabelSelector{};
}

TEST(LabelSelectorValidation, ReportsInvalidRequirements) {
  const std::vector<std::pair<std::string_view, std::string>> cases = {
      {"{}", ""},
      {R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["d"]}]})",
       ""},
      {R"({"matchExpressions":[{"key":"a","operator":"In"}]})",
       "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or "
       "'NotIn'"},
      {R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]})",
       "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' "
       "or 'DoesNotExist'"},
      {R"({"matchExpressions":[{"key":"a","operator":"X"}]})",
       "s.matchExpressions[0].operator: Invalid value: \"X\": not a valid selector operator"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(AggregateText(ValidateLabelSelector(Parse(text), FieldPath("s"))), want) << text;
  }
}

TEST(LabelSelectorValidation, OptionAllowsInvalidValuesOfStoredSelectors) {
  meta::v1::LabelSelector selector =
      Parse(R"({"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]})");
  EXPECT_EQ(ValidateLabelSelector(selector, FieldPath("s")).size(), 1u);
  EXPECT_TRUE(
      ValidateLabelSelector(selector, FieldPath("s"), {.allow_invalid_label_value = true}).empty());
}

TEST(LabelSelectorValidation, AcceptsNullSelector) {
  EXPECT_TRUE(ValidateLabelSelector(nullptr, FieldPath("s")).empty());
}

}  // namespace
}  // namespace cox::apiserver
