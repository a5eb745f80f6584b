// SPDX-License-Identifier: Apache-2.0
// Tests each limit of limits.h with malicious input, and the memory cost of small input.
#include "object/type/limits.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "api/apiextensions/v1.h"
#include "api/batch/v1.h"
#include "api/core/v1.h"
#include "object/codec.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/codec/yaml/yaml.h"
#include "object/scheme.h"
#include "object/testing/cost_meter.h"

namespace cox {
namespace {

size_t BytesHeldBy(const std::function<void()>& work) {
  return static_cast<size_t>(Measure(work).bytes);
}

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

constexpr size_t kSmallInput = 128;
constexpr size_t kSmallCost = size_t{16} * 1024;
constexpr size_t kItemBombCost = 2 * limits::kFreeItemBytes;

// Inputs of at most 128 bytes that announce or imply large data.
TEST(SmallInputs, NeedLittleMemoryWithoutAType) {
  const std::string inputs[] = {
      Repeat("[", 128),
      Repeat("{\"a\":", 25),
      "[" + Repeat("0,", 62) + "0]",
      "[" + Repeat("[],", 41) + "0]",
      "{" + Repeat("\"\":0,", 24) + "\"\":0}",
      "\"" + Repeat("\\u0000", 20) + "\"",
      "1" + Repeat("0", 127),
      "1e" + Repeat("9", 126),
      "0." + Repeat("0", 126),
  };
  (void)yaml::Parse("a: 1");  // exclude the cost of one-time initialization
  for (const std::string& input : inputs) {
    ASSERT_LE(input.size(), kSmallInput);
    EXPECT_LE(BytesHeldBy([&] { (void)json::Parse(input); }), kSmallCost) << input;
    EXPECT_LE(BytesHeldBy([&] { (void)yaml::Parse(input); }), kSmallCost) << input;
  }
}

TEST(SmallInputs, NeedLittleMemoryForEveryKind) {
  const std::string inputs[] = {
      "{}",
      "{\"metadata\":{\"labels\":{" + Repeat("\"a\":\"\",", 12) + "\"b\":\"\"}}}",
      "{\"metadata\":{\"ownerReferences\":[{},{},{},{}]}}",
      "{\"spec\":{\"nodeSelector\":{}}}",
  };
  for (const KindInfo* kind : AllKinds()) {
    for (const std::string& input : inputs) {
      ASSERT_LE(input.size(), kSmallInput);
      size_t cost = BytesHeldBy([&] {
        Object object(*kind);
        (void)json::Decode(input, *kind->type, object.data());
      });
      EXPECT_LE(cost, kSmallCost) << kind->kind << input;
    }
  }
}

// The worst case for structs: a list of the largest items, each encoded as {}. The items have to be
// allocated, so this test limits their cost.
size_t CostOfItemBomb(const KindInfo& kind) {
  size_t worst = 0;
  // Paths of one or two fields to a list of structs: spec.containers, items, webhooks.
  auto bomb = [&](const std::string& head, const Field& list, int closing) {
    if (list.type->shape != Shape::kList || list.type->element->shape != Shape::kStruct) return;
    std::string text = head + "\"" + std::string(list.name) + "\":[";
    std::string tail = "{}]" + Repeat("}", static_cast<size_t>(closing));
    while (text.size() + 3 + tail.size() <= kSmallInput) text += "{},";
    text += tail;
    worst = std::max(worst, BytesHeldBy([&] {
                       Object object(kind);
                       EXPECT_TRUE(json::Decode(text, *kind.type, object.data()).ok()) << text;
                     }));
  };
  for (const Field& field : kind.type->fields) {
    bomb("{", field, 1);
    if (field.type->shape != Shape::kStruct || field.type->codec != Codec::kFields) continue;
    for (const Field& inner : field.type->fields)
      bomb("{\"" + std::string(field.name) + "\":{", inner, 2);
  }
  return worst;
}

TEST(SmallInputs, MemoryOfListsOfLargeItemsIsLimited) {
  size_t worst = 0;
  std::string worst_kind;
  for (const KindInfo* kind : AllKinds()) {
    size_t cost = CostOfItemBomb(*kind);
    if (cost > worst) {
      worst = cost;
      worst_kind = kind->kind;
    }
  }
  RecordProperty("worst_bytes", static_cast<int>(worst));  // for the XML report
  RecordProperty("worst_kind", worst_kind);
  EXPECT_LE(worst, kItemBombCost) << worst_kind;
}

// A message with a wrong length field costs only its actual size.
TEST(SmallInputs, AnnouncedLengthsAreNotPreallocated) {
  for (const KindInfo* kind : AllKinds()) {
    for (uint16_t row : kind->type->wire) {
      uint32_t number = kind->type->fields[row].number;
      std::string input;
      for (uint64_t tag = static_cast<uint64_t>(number) << 3 | 2; tag > 0 || input.empty();
           tag >>= 7) {
        input.push_back(static_cast<char>(tag >= 0x80 ? tag | 0x80 : tag));
      }
      input += "\xff\xff\xff\xff\x07";  // announces 2 GiB
      size_t cost = BytesHeldBy([&] {
        Object object(*kind);
        EXPECT_FALSE(proto::Decode(input, *kind->type, object.data()).ok()) << kind->kind << number;
      });
      EXPECT_LE(cost, kSmallCost) << kind->kind;
    }
  }
}

// 3 MiB of the worst cases, each within one second of CPU time and 16 times the size of the body.
TEST(LargeInputs, TimeAndMemoryAreLimited) {
  constexpr size_t kBody = limits::kMaxBodyBytes;
  const std::string inputs[] = {
      Repeat("[", kBody),
      Repeat("{\"a\":", kBody / 5),
      "[" + Repeat("0,", kBody / 2 - 2) + "0]",
      "{" + Repeat("\"a\":0,", kBody / 6 - 2) + "\"a\":0}",
      "\"" + Repeat("\\u0000", kBody / 6 - 1) + "\"",
      "1" + Repeat("0", kBody - 1),
      Repeat(" ", kBody),
  };
  for (const std::string& input : inputs) {
    ASSERT_LE(input.size(), kBody);
    std::string head = input.substr(0, 12);
    Cost typed = Measure([&] {
      core::v1::ConfigMap map;
      (void)json::Decode(input, core::v1::ConfigMap::kType, &map);
    });
    EXPECT_LE(typed.seconds, kSlow) << head;
    EXPECT_LE(static_cast<size_t>(typed.bytes), 16 * kBody) << head;
    Cost untyped = Measure([&] { (void)json::Parse(input); });
    EXPECT_LE(untyped.seconds, kSlow) << head;
    if (kSlow == 1) {
      EXPECT_LE(static_cast<size_t>(untyped.resident), 16 * kBody) << head;
    }
  }
}

// Two bytes of protobuf or three bytes of JSON for a struct of kilobytes are rejected before they
// need gigabytes. A growing vector holds its old buffer and up to twice the necessary capacity.
TEST(LargeInputs, RejectsItemsThatExpandTooMuch) {
  std::string text = "{\"items\":[{}";
  while (text.size() + 5 < limits::kMaxBodyBytes) text += ",{}";
  text += "]}";
  batch::v1::CronJobList list;
  Status status;
  Cost cost = Measure([&] { status = json::Decode(text, batch::v1::CronJobList::kType, &list); });
  EXPECT_EQ(status.message(), "document expands to too large an object");
  EXPECT_LE(static_cast<size_t>(cost.bytes), 3 * limits::ItemBytes(text.size()));

  std::string bytes;
  while (bytes.size() + 2 < limits::kMaxBodyBytes)
    bytes += std::string_view("\x12\x00", 2);  // items
  batch::v1::CronJobList other;
  cost = Measure([&] { status = proto::Decode(bytes, batch::v1::CronJobList::kType, &other); });
  EXPECT_EQ(status.message(), "proto: message expands to too large an object");
  EXPECT_LE(static_cast<size_t>(cost.bytes), 3 * limits::ItemBytes(bytes.size()));
}

TEST(LargeInputs, ManyKeysTakeLessThanQuadraticTime) {
  std::string text = "{\"data\":{";
  for (int i = 200'000; i-- > 0;) text += "\"" + std::to_string(i) + "\":\"\",";
  text += "\"x\":\"\"}}";
  ASSERT_LE(text.size(), limits::kMaxBodyBytes);
  json::Strictness strict;
  EXPECT_LE(
      Measure([&] { EXPECT_TRUE(json::Decode<core::v1::ConfigMap>(text, &strict).ok()); }).seconds,
      kSlow);
  EXPECT_LE(Measure([&] { EXPECT_TRUE(json::Parse(text, &strict).ok()); }).seconds, kSlow);
  EXPECT_TRUE(strict.errors.empty());
}

TEST(LargeInputs, NumberOfReportedUnknownFieldsIsLimited) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"unknown" + std::to_string(i) + "\":{},";
  text += "\"x\":0}";
  json::Strictness strict;
  EXPECT_LE(Measure([&] { EXPECT_TRUE(json::Decode<core::v1::Pod>(text, &strict).ok()); }).seconds,
            kSlow);
  EXPECT_EQ(strict.errors.size(), limits::kMaxStrictErrors);
}

}  // namespace
}  // namespace cox
