// SPDX-License-Identifier: Apache-2.0
#include "object/apply/changed_parts.h"

#include <gtest/gtest.h>

#include <string>

#include "object/apply/field_manager.h"
#include "object/apply/managed_fields.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/testing/golden_objects.h"

namespace cox::apply {
namespace {

const Time kUpdated = *Time::Parse("2030-01-01T00:00:00Z");

TEST(ChangedPartsTest, LeavesOutEqualFieldsOfStructs) {
  const Object before = ObjectFromJson(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"1","labels":{"a":"1"}},
          "spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n"},
          "status":{"phase":"Pending","podIP":"10.0.0.1"}})");
  const Object after = ObjectFromJson(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"1","labels":{"a":"1","b":""}},
          "spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"n"},
          "status":{"phase":"Running","podIP":"10.0.0.1"}})");
  const ChangedParts parts = FindChangedParts(before.type(), before.data(), after.data());
  EXPECT_EQ(
      json::Write(parts.before),
      R"({"metadata":{"labels":{"a":"1"},"name":"a","uid":"1"},"status":{"phase":"Pending"}})");
  EXPECT_EQ(
      json::Write(parts.after),
      R"({"metadata":{"labels":{"a":"1","b":""},"name":"a","uid":"1"},"status":{"phase":"Running"}})");
}

TEST(ChangedPartsTest, QuantitiesAreComparedAsWritten) {
  const std::string_view kJson =
      R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","resources":{"limits":{"memory":"SIZE"}}}]}})";
  const auto with = [&](const std::string& size) {
    std::string json(kJson);
    json.replace(json.find("SIZE"), 4, size);
    return ObjectFromJson(json);
  };
  const Object before = with("1Gi");
  const Object after = with("1073741824");
  EXPECT_TRUE(before == after);
  EXPECT_NE(FindChangedParts(before.type(), before.data(), after.data()).after.Find("spec"),
            nullptr);
}

std::string Text(const Result<Managers>& managers) {
  return managers.ok() ? json::Write(EncodeManagedFields(*managers)) : managers.status().ToString();
}

// Manager "a" creates each reference object with some fields left out. Manager "b" replaces it with
// the same reference object, in which other fields are left out. Half of the updates contain
// managedFields.
TEST(ChangedPartsTest, ComparingOnlyChangedPartsGivesTheSameManagersForAllKinds) {
  size_t compared = 0;
  const bool found = ForEachGoldenObject(10, [&](const Object& first, const Object& second) {
    const FieldManager fields(first.type(), {.api_version = first.gvk().group_version().ToString(),
                                             .kind = first.gvk().kind});
    Object live = first;
    live.object_meta()->uid = "1";
    const Result<Managers> created =
        fields.UpdateManagers(fields.nothing(), live.ToValue(), "a", kUpdated.ToString());
    if (!created.ok()) return;  // an item of a list lost its key
    live.object_meta()->managedFields = ManagedFieldsEntries(*created);
    Object after = second;
    if (compared % 2 == 0) after.object_meta()->managedFields = live.object_meta()->managedFields;
    const ChangedParts parts = FindChangedParts(live.type(), live.data(), after.data());
    const auto whole = fields.UpdateManagers(
        fields.Named(live.ToValue()), fields.Named(after.ToValue()), "b", kUpdated.ToString());
    const auto changed = fields.UpdateManagers(fields.Named(parts.before),
                                               fields.Named(parts.after), "b", kUpdated.ToString());
    ++compared;
    EXPECT_EQ(Text(changed), Text(whole))
        << json::Write(live.ToValue()) << " became " << json::Write(after.ToValue());
  });
  if (!found) GTEST_SKIP() << "the reference objects are missing";
  EXPECT_GT(compared, 500U);
}

}  // namespace
}  // namespace cox::apply
