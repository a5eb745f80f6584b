// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/patched_text.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

Object MapOf(std::string_view text) {
  Object object(core::v1::ConfigMap::kKind);
  EXPECT_TRUE(object.FromValue(*json::Parse(text)).ok()) << text;
  return object;
}

TEST(PatchedText, UnpatchedFieldsKeepStructOrder) {
  // The struct has name, namespace, labels, which is not the sorted order.
  const Object original =
      MapOf(R"({"metadata":{"name":"a","namespace":"ns","labels":{"l":"1"}},"data":{"z":"1"}})");
  Value patched = original.ToValue();
  EXPECT_EQ(
      PatchedText(original, patched),
      R"({"apiVersion":"v1","data":{"z":"1"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","labels":{"l":"1"}}})");
}

TEST(PatchedText, PatchedFieldsAreSorted) {
  const Object original = MapOf(R"({"metadata":{"name":"a","namespace":"ns","labels":{"l":"1"}}})");
  Value patched = *json::Parse(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","labels":{"m":5}},"data":7})");
  EXPECT_EQ(
      PatchedText(original, patched),
      R"({"apiVersion":"v1","data":7,"kind":"ConfigMap","metadata":{"labels":{"m":5},"name":"a","namespace":"ns"}})");
}

TEST(PatchedText, QuotesAndBracesInStringsAreIgnored) {
  const Object original =
      MapOf(R"({"metadata":{"name":"a"},"data":{"k":"}\",\"x\":{[","n":"\\"}})");
  Value patched = *json::Parse(R"({"data":{"k":"}\",\"x\":{[","n":"\\","new":1}})");
  EXPECT_EQ(PatchedText(original, patched), R"({"data":{"k":"}\",\"x\":{[","n":"\\","new":1}})");
}

}  // namespace
}  // namespace cox::apiserver
