// SPDX-License-Identifier: Apache-2.0
#include "object/apply/managed_fields.h"

#include <gtest/gtest.h>

#include "object/apply/fields_v1.h"
#include "object/codec/json/json.h"
#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

Ownership Owns(std::string_view field, std::string time = "", std::string version = "v1") {
  return {FieldSet{Path{PathElement::Field(field)}}, std::move(version), std::move(time)};
}

TEST(ManagedFieldsTest, EntriesRoundTrip) {
  Value entries = J(R"([
    {'manager':'a','operation':'Apply','apiVersion':'v1','time':'2020-01-01T00:00:00Z',
     'fieldsType':'FieldsV1','fieldsV1':{'f:x':{}}},
    {'manager':'a','operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1',
     'fieldsV1':{'f:y':{}},'subresource':'status'}])");
  Result<Managers> managers = DecodeManagedFields(entries);
  ASSERT_TRUE(managers.ok());
  EXPECT_EQ(managers->size(), 2u);
  EXPECT_EQ(managers->at(ManagerId{"a", true, "", ""}), Owns("x", "2020-01-01T00:00:00Z"));
  EXPECT_EQ(managers->at(ManagerId{"a", false, "v1", "status"}), Owns("y"));
  EXPECT_EQ(EncodeManagedFields(*managers), entries);
}

TEST(ManagedFieldsTest, EntriesOfStructsEqualEntriesOfValues) {
  Managers managers;
  managers[ManagerId{"b", false, "v1", "status"}] = Owns("y", "2020-01-01T00:00:00Z");
  managers[ManagerId{"a", true, "", ""}] = Owns("x");
  const List<meta::v1::ManagedFieldsEntry> entries = ManagedFieldsEntries(managers);
  Value::Array values;
  for (const auto& entry : entries) values.push_back(json::ToValue(entry));
  EXPECT_EQ(Value(values), EncodeManagedFields(managers));
}

TEST(ManagedFieldsTest, RejectsMalformedEntries) {
  struct {
    std::string_view entries, error;
  } const cases[] = {
      {"{}", "managedFields must be a list"},
      {"[1]", "managed fields entry must be an object"},
      {"[{'operation':'Bad','fieldsType':'FieldsV1'}]", "operation must be `Apply` or `Update`"},
      {"[{'operation':'Apply','fieldsType':'FieldsV2'}]",
       "invalid fieldsType \"FieldsV2\" in managed fields entry 0"},
      {"[{'operation':'Apply','fieldsType':'FieldsV1'},{'operation':'Apply'}]",
       "invalid fieldsType \"\" in managed fields entry 1"},
  };
  for (const auto& c : cases) {
    Result<Managers> managers = DecodeManagedFields(J(c.entries));
    ASSERT_FALSE(managers.ok()) << c.entries;
    EXPECT_EQ(managers.status().message(), c.error);
  }
  EXPECT_FALSE(
      DecodeManagedFields(J("[{'operation':'Apply','fieldsType':'FieldsV1','fieldsV1':{'x':1}}]"))
          .ok());
}

TEST(ManagedFieldsTest, SortsByOperationTimeNameVersionAndSubresource) {
  Managers managers;
  managers[{"u", false, "v1", ""}] = Owns("x", "2019-01-01T00:00:00Z");
  managers[{"late", true, "", ""}] = Owns("x", "2021-01-01T00:00:00Z");
  managers[{"b", true, "", ""}] = Owns("x", "2020-01-01T00:00:00Z");
  managers[{"a", true, "", "status"}] = Owns("x", "2020-01-01T00:00:00Z");
  managers[{"a", true, "", ""}] = Owns("x", "2020-01-01T00:00:00Z");
  managers[{"timeless", true, "", ""}] = Owns("x");
  std::vector<std::string> order;
  Value entries = EncodeManagedFields(managers);
  for (const Value& entry : entries.as_array()) {
    const Value* subresource = entry.Find("subresource");
    order.push_back(std::string(entry.Find("manager")->as_string()) +
                    (subresource != nullptr ? "/status" : ""));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"timeless", "a", "a/status", "b", "late", "u"}));
}

TEST(ManagedFieldsTest, SetManagersWritesAndRemovesManagedFields) {
  Value object = J("{'kind':'T'}");
  SetManagers({{{"a", true, "", ""}, Owns("x")}}, &object);
  EXPECT_NE(object.At({"metadata", "managedFields"}), nullptr);
  EXPECT_EQ(ManagersOf(object)->size(), 1u);
  SetManagers({}, &object);
  EXPECT_EQ(json::Write(object), R"({"kind":"T","metadata":{}})");
  EXPECT_TRUE(ManagersOf(object)->empty());
}

TEST(ManagedFieldsTest, DetectsRequestsToRemoveAllManagers) {
  EXPECT_TRUE(IsReset(J("{'metadata':{'managedFields':[]}}")));
  EXPECT_TRUE(IsReset(J("{'metadata':{'managedFields':[{}]}}")));
  EXPECT_FALSE(IsReset(J("{'metadata':{'managedFields':null}}")));
  EXPECT_FALSE(IsReset(J("{'metadata':{'managedFields':[{},{}]}}")));
  EXPECT_FALSE(IsReset(J("{'metadata':{}}")));
}

TEST(CapUpdateManagersTest, MergesTheOldestOfAVersion) {
  Managers managers;
  for (int i = 0; i < 12; ++i) {
    std::string n = std::to_string(10 + i);
    managers[{"u" + n, false, "v1", ""}] = Owns("f" + n, "2020-01-" + n + "T00:00:00Z");
  }
  managers[{"a", true, "", ""}] = Owns("x");
  CapUpdateManagers(&managers);
  EXPECT_EQ(managers.size(), 11u);
  const Ownership& ancient = managers.at(ManagerId{"ancient-changes", false, "v1", ""});
  EXPECT_EQ(WriteFieldsV1(ancient.fields), R"({"f:f10":{},"f:f11":{},"f:f12":{}})");
  EXPECT_EQ(ancient.time, "2020-01-12T00:00:00Z");
  EXPECT_TRUE(managers.contains(ManagerId{"u13", false, "v1", ""}));
}

TEST(CapUpdateManagersTest, MergesPerVersionIntoExistingAncientChanges) {
  Managers managers;
  managers[{"ancient-changes", false, "v1", ""}] = Owns("a", "2020-01-01T00:00:00Z");
  managers[{"b", false, "v2", ""}] = Owns("b", "2020-01-02T00:00:00Z", "v2");
  managers[{"c", false, "v1", ""}] = Owns("c", "2020-01-03T00:00:00Z");
  managers[{"d", false, "v2", ""}] = Owns("d", "2020-01-04T00:00:00Z", "v2");
  CapUpdateManagers(&managers, 2);
  ASSERT_EQ(managers.size(), 2u);
  EXPECT_EQ(WriteFieldsV1(managers.at(ManagerId{"ancient-changes", false, "v1", ""}).fields),
            R"({"f:a":{},"f:c":{}})");
  EXPECT_EQ(WriteFieldsV1(managers.at(ManagerId{"ancient-changes", false, "v2", ""}).fields),
            R"({"f:b":{},"f:d":{}})");
}

TEST(ManagerNameTest, IsFieldManagerOrUserAgent) {
  EXPECT_EQ(ManagerName("me", "kubectl/v1"), "me");
  EXPECT_EQ(ManagerName("", "kubectl/v1.36.0 (linux/amd64)"), "kubectl");
  EXPECT_EQ(ManagerName("", "curl"), "curl");
  EXPECT_EQ(ManagerName("",
                        "a\x01"
                        "b\xff"
                        "c/1"),
            "abc");
  EXPECT_EQ(ManagerName("", ""), "");
  EXPECT_EQ(ManagerName("", std::string(200, 'x')), std::string(128, 'x'));
}

}  // namespace
}  // namespace cox::apply
