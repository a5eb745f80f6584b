// SPDX-License-Identifier: Apache-2.0
#include "object/apply/updater.h"

#include <gtest/gtest.h>

#include "object/apply/fields_v1.h"
#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

// The field `num` of v1 is called `count` in v2.
class Renaming final : public Versions {
 public:
  Renaming() {
    v2_ = *RuntimeType::FromSchema(
        J("{'type':'object','properties':{'count':{'type':'integer'},'str':{'type':'string'}}}"));
  }
  const Type* TypeAt(std::string_view version) const override {
    return version == "v1" ? &TestType() : version == "v2" ? &v2_->type() : nullptr;
  }
  Result<Value> Convert(const Value& object, std::string_view version) const override {
    Value::Object out;
    for (const auto& [key, value] : object.as_object()) {
      std::string name = key;
      if (key == "num" || key == "count") name = version == "v2" ? "count" : "num";
      out.Append(name, value);
    }
    out.Seal();
    return Value(std::move(out));
  }

 private:
  std::shared_ptr<const RuntimeType> v2_;
};

ManagerId Applier(std::string name) { return {std::move(name), true, "", ""}; }

Managers Owners(std::initializer_list<std::tuple<ManagerId, std::string_view, std::string>> list) {
  Managers managers;
  for (const auto& [id, fields, version] : list) {
    managers[id] = {*FieldsV1FromValue(J(fields)), version, ""};
  }
  return managers;
}

std::string Text(const Managers& managers) {
  std::string text;
  for (const auto& [id, owned] : managers) {
    text += id.manager + "@" + owned.api_version + WriteFieldsV1(owned.fields) + " ";
  }
  return text;
}

TEST(UpdaterTest, ComparesOwnershipInEachVersion) {
  Renaming versions;
  Updater updater(versions, "v1");
  Managers owners = Owners({{Applier("a"), "{'f:count':{}}", "v2"}});
  Result<Updater::Applied> refused =
      updater.Apply(J("{'num':1}"), J("{'num':2}"), owners, Applier("b"), false);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            "Apply failed with 1 conflict: conflict with \"a\": .count");
  Result<Updater::Applied> forced =
      updater.Apply(J("{'num':1}"), J("{'num':2}"), owners, Applier("b"), true);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(Text(forced->managers), "b@v1{\"f:num\":{}} ");
}

TEST(UpdaterTest, RemovesFieldsAppliedInAnotherVersion) {
  Renaming versions;
  Updater updater(versions, "v1");
  Result<Updater::Applied> applied = updater.Apply(
      J("{'num':1,'str':'x'}"), J("{'str':'x'}"),
      Owners({{Applier("a"), "{'f:count':{},'f:str':{}}", "v2"}}), Applier("a"), false);
  ASSERT_TRUE(applied.ok()) << applied.status().ToString();
  ASSERT_TRUE(applied->object);
  EXPECT_EQ(json::Write(*applied->object), R"({"str":"x"})");
  EXPECT_EQ(Text(applied->managers), "a@v1{\"f:str\":{}} ");
}

TEST(UpdaterTest, KeepsFieldsOwnedInAnotherVersion) {
  Renaming versions;
  Updater updater(versions, "v1");
  Result<Updater::Applied> applied =
      updater.Apply(J("{'num':1,'str':'x'}"), J("{'str':'x'}"),
                    Owners({{Applier("a"), "{'f:num':{},'f:str':{}}", "v1"},
                            {Applier("b"), "{'f:count':{}}", "v2"}}),
                    Applier("a"), false);
  ASSERT_TRUE(applied.ok()) << applied.status().ToString();
  EXPECT_FALSE(applied->object) << "nothing changes";
  EXPECT_EQ(Text(applied->managers), "a@v1{\"f:str\":{}} b@v2{\"f:count\":{}} ");
}

TEST(UpdaterTest, RemovesManagersOfVersionsThatNoLongerExist) {
  Renaming versions;
  Updater updater(versions, "v1");
  Result<Managers> managers =
      updater.Update(J("{'num':1}"), J("{'num':1,'str':'x'}"),
                     Owners({{Applier("old"), "{'f:num':{}}", "v0"}}), {"u", false, "v1", ""});
  ASSERT_TRUE(managers.ok());
  EXPECT_EQ(Text(*managers), "u@v1{\"f:str\":{}} ");
}

TEST(UpdaterTest, ReportsFailedConversions) {
  class Failing final : public Versions {
   public:
    const Type* TypeAt(std::string_view) const override { return &TestType(); }
    Result<Value> Convert(const Value&, std::string_view) const override {
      return Status::Internal("no converter");
    }
  } versions;
  Updater updater(versions, "v1");
  Result<Managers> managers =
      updater.Update(J("{}"), J("{'num':1}"), Owners({{Applier("a"), "{'f:num':{}}", "v2"}}),
                     {"u", false, "v1", ""});
  ASSERT_FALSE(managers.ok());
  EXPECT_EQ(managers.status().message(), "no converter");
}

TEST(UpdaterTest, FilteredFieldsAreNeitherOwnedNorInConflict) {
  OneVersion versions(TestType(), "v1");
  FieldSet hidden{Path{PathElement::Field("struct")}};
  Updater updater(versions, "v1",
                  [&](const FieldSet& set) { return set.RecursiveDifference(hidden); });
  Managers owners = Owners({{Applier("a"), "{'f:struct':{'f:a':{}}}", "v1"}});
  Result<Updater::Applied> applied = updater.Apply(
      J("{'struct':{'a':'1'}}"), J("{'num':1,'struct':{'a':'2'}}"), owners, Applier("b"), false);
  ASSERT_TRUE(applied.ok()) << applied.status().ToString();
  EXPECT_EQ(Text(applied->managers), "a@v1{\"f:struct\":{\"f:a\":{}}} b@v1{\"f:num\":{}} ");
}

TEST(FollowTypeTest, ReplacesPathsBelowAtomicFields) {
  struct {
    std::string_view before, after;
  } const cases[] = {
      {"{'f:atomicMap':{'f:a':{}}}", "{'f:atomicMap':{}}"},
      {"{'f:atomicList':{'v:1':{}},'f:num':{}}", "{'f:atomicList':{},'f:num':{}}"},
      {"{'f:map':{'f:a':{}}}", "{'f:map':{'f:a':{}}}"},
      {"{'f:map':{}}", "{'f:map':{}}"},
      {"{'f:gone':{'f:a':{}}}", "{'f:gone':{'f:a':{}}}"},
      {"{'f:any':{'f:a':{}}}", "{'f:any':{'f:a':{}}}"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FollowType(*FieldsV1FromValue(J(c.before)), TestType()),
              *FieldsV1FromValue(J(c.after)))
        << c.before;
  }
}

}  // namespace
}  // namespace cox::apply
