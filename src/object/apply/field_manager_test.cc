// SPDX-License-Identifier: Apache-2.0
#include "object/apply/field_manager.h"

#include <gtest/gtest.h>

#include "object/apply/fields_v1.h"
#include "object/apply/managed_fields.h"
#include "object/testing/test_schema.h"

namespace cox::apply {
namespace {

constexpr std::string_view kNow = "2030-01-01T00:00:00Z";

// Adds apiVersion, kind and metadata.name to `fields`.
Value T(std::string_view fields) {
  Value object = J(fields);
  object.as_object()["apiVersion"] = "v1";
  object.as_object()["kind"] = "T";
  Value& metadata = object.as_object()["metadata"];
  if (metadata.is_null()) metadata = Value::MakeObject();
  metadata.as_object()["name"] = "x";
  return object;
}

// "name/operation/subresource{...} " for each manager, in list order.
std::string OwnersOf(const Value& object) {
  std::string text;
  const Value* entries = object.At({"metadata", "managedFields"});
  if (entries == nullptr) return text;
  for (const Value& entry : entries->as_array()) {
    text += std::string(entry.Find("manager")->as_string()) + "/" +
            std::string(entry.Find("operation")->as_string());
    if (const Value* sub = entry.Find("subresource")) text += "/" + std::string(sub->as_string());
    text += WriteFieldsV1(*FieldsV1FromValue(*entry.Find("fieldsV1"))) + " ";
  }
  return text;
}

std::string Fields(Value object) {
  for (std::string_view key : {"apiVersion", "kind", "metadata"}) object.as_object().Erase(key);
  return json::Write(object);
}

class FieldManagerTest : public testing::Test {
 protected:
  // Applies to the object under test, which does not change on failure.
  Status Apply(std::string_view fields, std::string_view manager, bool force = false) {
    return Take(manager_.Apply(live_, T(fields), manager, force, kNow));
  }
  Status Update(std::string_view fields, std::string_view manager) {
    return Take(manager_.Update(live_, T(fields), manager, kNow));
  }
  Status Take(Result<Value> result) {
    if (!result.ok()) return result.status();
    live_ = std::move(*result);
    return Status();
  }

  FieldManager manager_{TestType(), {.api_version = "v1", .kind = "T"}};
  Value live_ = J("{'apiVersion':'v1','kind':'T'}");
};

TEST_F(FieldManagerTest, OwnershipChangesWithAppliesAndUpdates) {
  ASSERT_TRUE(Apply("{'map':{'x':'1','y':'2'}}", "m1").ok());
  EXPECT_EQ(OwnersOf(live_), R"(m1/Apply{"f:map":{"f:x":{},"f:y":{}}} )");
  ASSERT_TRUE(Apply("{'map':{'x':'9'}}", "m1").ok());
  EXPECT_EQ(Fields(live_), R"({"map":{"x":"9"}})") << "y is applied no longer";

  Status conflict = Apply("{'map':{'x':'8'}}", "m2");
  EXPECT_TRUE(conflict.Is(Reason::kConflict));
  EXPECT_EQ(conflict.message(), "Apply failed with 1 conflict: conflict with \"m1\": .map.x");
  ASSERT_EQ(conflict.details().causes.size(), 1u);
  EXPECT_EQ(conflict.details().causes[0],
            (StatusCause{"FieldManagerConflict", "conflict with \"m1\"", ".map.x"}));

  ASSERT_TRUE(Apply("{'map':{'x':'9'}}", "m2").ok()) << "wishing the same is no conflict";
  EXPECT_EQ(OwnersOf(live_), R"(m2/Apply{"f:map":{"f:x":{}}} m1/Apply{"f:map":{"f:x":{}}} )")
      << "who changed nothing has no time, and comes first";
  ASSERT_TRUE(Apply("{'map':{'x':'7'}}", "m1", true).ok());
  EXPECT_EQ(OwnersOf(live_), R"(m1/Apply{"f:map":{"f:x":{}}} )");
  ASSERT_TRUE(Apply("{'map':{'x':'7','z':'3'}}", "m2").ok());
  ASSERT_TRUE(Apply("{'map':{'z':'3'}}", "m2").ok());
  EXPECT_EQ(Fields(live_), R"({"map":{"x":"7","z":"3"}})") << "m1 still owns x";
  ASSERT_TRUE(Apply("{}", "m1").ok());
  EXPECT_EQ(Fields(live_), R"({"map":{"z":"3"}})");
  EXPECT_EQ(OwnersOf(live_), R"(m2/Apply{"f:map":{"f:z":{}}} )");

  ASSERT_TRUE(Update("{'map':{'n':'1','z':'changed'}}", "put").ok());
  EXPECT_EQ(OwnersOf(live_), R"(put/Update{"f:map":{"f:n":{},"f:z":{}}} )");
  EXPECT_EQ(Apply("{'map':{'z':'3'}}", "m2").message(),
            "Apply failed with 1 conflict: conflict with \"put\" using v1: .map.z");
}

TEST_F(FieldManagerTest, ListItemsAreOwnedByKey) {
  ASSERT_TRUE(Apply("{'containers':[{'name':'a','image':'1','ports':[{'port':80}]},"
                    "{'name':'b','image':'1'}],'set':['x']}",
                    "m1")
                  .ok());
  ASSERT_TRUE(Apply("{'containers':[{'name':'c'}],'set':['y']}", "m2").ok());
  Status conflict = Apply(
      "{'containers':[{'name':'a','image':'2','ports':[{'port':80,'protocol':'TCP',"
      "'host':'h'}]},{'name':'b','image':'2'}]}",
      "m2");
  EXPECT_EQ(conflict.message(),
            "Apply failed with 2 conflicts: conflicts with \"m1\":\n"
            "- .containers[name=\"a\"].image\n- .containers[name=\"b\"].image");
  ASSERT_TRUE(Apply("{'containers':[{'name':'a','image':'1'}]}", "m1").ok());
  EXPECT_EQ(Fields(live_), R"({"containers":[{"image":"1","name":"a"},{"name":"c"}],"set":["y"]})");
}

TEST_F(FieldManagerTest, AtomicFieldsHaveOneOwner) {
  ASSERT_TRUE(
      Apply("{'atomicMap':{'a':'1'},'atomicList':['a'],'atomicStruct':{'a':'1'}}", "m1").ok());
  Status conflict = Apply("{'atomicMap':{'b':'1'},'atomicList':['b'],'atomicStruct':{}}", "m2");
  EXPECT_EQ(conflict.message(),
            "Apply failed with 3 conflicts: conflicts with \"m1\":\n"
            "- .atomicList\n- .atomicMap\n- .atomicStruct");
  ASSERT_TRUE(Apply("{'atomicMap':{'b':'1'}}", "m2", true).ok());
  EXPECT_EQ(Fields(live_),
            R"({"atomicList":["a"],"atomicMap":{"b":"1"},"atomicStruct":{"a":"1"}})");
}

TEST_F(FieldManagerTest, ConflictsNameEachManager) {
  ASSERT_TRUE(Apply("{'num':1,'str':'a'}", "b").ok());
  ASSERT_TRUE(Apply("{'num':1}", "a").ok());
  FieldManager status(TestType(), {.api_version = "v1", .kind = "T", .subresource = "status"});
  ASSERT_TRUE(Take(status.Apply(live_, T("{'num':1}"), "a", false, kNow)).ok());
  ASSERT_TRUE(Take(status.Update(live_, T("{'num':1,'str':'a','bool':true}"), "c", kNow)).ok());
  EXPECT_EQ(
      Apply("{'num':2,'str':'b','bool':false}", "d").message(),
      "Apply failed with 5 conflicts: conflicts with \"a\" with subresource \"status\":\n- .num\n"
      "conflicts with \"a\":\n- .num\nconflicts with \"b\":\n- .num\n- .str\n"
      "conflicts with \"c\" with subresource \"status\" using v1:\n- .bool");
}

TEST_F(FieldManagerTest, ApplyingTwiceChangesNothing) {
  ASSERT_TRUE(Apply("{'containers':[{'name':'a','ports':[{'port':1}]}],'any':{'x':{}}}", "m").ok());
  Value once = live_;
  ASSERT_TRUE(Take(manager_.Apply(live_,
                                  T("{'containers':[{'name':'a','ports':[{'port':1}]}],"
                                    "'any':{'x':{}}}"),
                                  "m", false, "2040-01-01T00:00:00Z"))
                  .ok());
  EXPECT_EQ(json::Write(live_), json::Write(once)) << "not even the time";
}

TEST_F(FieldManagerTest, ServerManagedMetadataHasNoOwner) {
  ASSERT_TRUE(Apply("{'metadata':{'labels':{'l':'1'},'uid':'u','resourceVersion':'1'}}", "m").ok());
  EXPECT_EQ(OwnersOf(live_), R"(m/Apply{"f:metadata":{"f:labels":{"f:l":{}}}} )");
}

TEST_F(FieldManagerTest, FieldsFromBeforeFirstApplyHaveAManager) {
  live_ = T("{'num':1,'map':{'a':'1'},'metadata':{'uid':'u'}}");
  EXPECT_EQ(Apply("{'num':2}", "m").message(),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .num");
  ASSERT_TRUE(Apply("{'num':1}", "m").ok());
  EXPECT_EQ(
      OwnersOf(live_),
      R"(m/Apply{"f:num":{}} before-first-apply/Update{"f:map":{".":{},"f:a":{}},"f:num":{}} )");
}

TEST_F(FieldManagerTest, UpdateDoesNotAddManagersToObjectStoredWithoutThem) {
  live_ = T("{'num':1,'metadata':{'uid':'u'}}");
  ASSERT_TRUE(Update("{'num':2,'metadata':{'uid':'u'}}", "m").ok());
  EXPECT_EQ(OwnersOf(live_), "");
}

TEST_F(FieldManagerTest, UpdatesKeepReplaceOrRemoveManagers) {
  struct {
    std::string_view managed_fields, owners;
  } const cases[] = {
      {"null", R"(z/Apply{"f:num":{}} a/Update{"f:str":{}} )"},
      {"[]", R"(a/Update{"f:str":{}} )"},
      {"[{}]", R"(a/Update{"f:str":{}} )"},
      {"[{'manager':'y','operation':'Apply','apiVersion':'v1','fieldsType':'FieldsV1',"
       "'fieldsV1':{'f:num':{}}}]",
       R"(y/Apply{"f:num":{}} a/Update{"f:str":{}} )"},
      {"[{'manager':'y','operation':'Bad'}]", R"(z/Apply{"f:num":{}} a/Update{"f:str":{}} )"},
  };
  for (const auto& c : cases) {
    live_ = J("{'apiVersion':'v1','kind':'T'}");
    ASSERT_TRUE(Apply("{'num':1}", "z").ok());
    Value after = T("{'num':1,'str':'s'}");
    after.Find("metadata")->as_object()["managedFields"] = J(c.managed_fields);
    ASSERT_TRUE(Take(manager_.Update(live_, after, "a", kNow)).ok());
    EXPECT_EQ(OwnersOf(live_), c.owners) << c.managed_fields;
  }
}

TEST_F(FieldManagerTest, OnlyManagersWithChangesGetANewTime) {
  ASSERT_TRUE(Update("{'num':1}", "a").ok());
  ASSERT_TRUE(
      Take(manager_.Update(live_, T("{'num':1,'str':'x'}"), "b", "2031-01-01T00:00:00Z")).ok());
  ASSERT_TRUE(
      Take(manager_.Update(live_, T("{'num':1,'str':'x'}"), "a", "2032-01-01T00:00:00Z")).ok());
  Managers managers = *ManagersOf(live_);
  EXPECT_EQ(managers.at(ManagerId{"a", false, "v1", ""}).time, kNow);
  EXPECT_EQ(managers.at(ManagerId{"b", false, "v1", ""}).time, "2031-01-01T00:00:00Z");
}

TEST_F(FieldManagerTest, RejectsInvalidPatches) {
  struct {
    std::string_view patch, error;
    int code;
  } const cases[] = {
      {"{'apiVersion':'v1','kind':'Z'}", "invalid object type: /v1, Kind=Z", 400},
      {"{'apiVersion':'apps/v2','kind':'T'}", "invalid object type: apps/v2, Kind=T", 400},
      {"{'apiVersion':'v1'}", "invalid object type: /v1, Kind=", 400},
      {"{}", "invalid object type: /, Kind=", 400},
      {"{'apiVersion':'v1','kind':'T','metadata':{'managedFields':[]}}",
       "metadata.managedFields must be nil", 400},
      {"{'apiVersion':'v1','kind':'T','metadata':{'name':'a'},'nope':1}",
       "failed to create typed patch object (/a; /v1, Kind=T): .nope: field not declared in schema",
       500},
      {"{'apiVersion':'v1','kind':'T','set':['a','a']}",
       "failed to create typed patch object (/; /v1, Kind=T): .set: duplicate entries for key "
       "[=\"a\"]",
       500},
  };
  for (const auto& c : cases) {
    Result<Value> result = manager_.Apply(live_, J(c.patch), "m", false, kNow);
    ASSERT_FALSE(result.ok()) << c.patch;
    EXPECT_EQ(result.status().message(), c.error);
    EXPECT_EQ(result.status().code(), c.code);
  }
  EXPECT_EQ(
      Update("{'nope':1}", "m").message(),
      "failed to convert new object (/x; /v1, Kind=T) to smd typed: .nope: field not declared "
      "in schema");
}

TEST_F(FieldManagerTest, StoredDuplicatesDoNotStopWrites) {
  ASSERT_TRUE(Update("{'set':['a','a']}", "m").ok());
  ASSERT_TRUE(Apply("{'num':1}", "n").ok());
  EXPECT_EQ(Fields(live_), R"({"num":1,"set":["a","a"]})");
}

TEST_F(FieldManagerTest, ManagerWithoutANameIsUnknown) {
  ASSERT_TRUE(Apply("{'num':1}", "").ok());
  EXPECT_EQ(OwnersOf(live_), R"(unknown/Apply{"f:num":{}} )");
}

TEST_F(FieldManagerTest, ResetFieldsAreNotOwned) {
  FieldManager manager(TestType(), {.api_version = "v1",
                                    .kind = "T",
                                    .reset_fields = FieldSet{Path{PathElement::Field("struct")}}});
  ASSERT_TRUE(Take(manager.Apply(live_, T("{'num':1,'struct':{'a':'1'}}"), "m", false, kNow)).ok());
  EXPECT_EQ(OwnersOf(live_), R"(m/Apply{"f:num":{}} )");
}

// kubectl migrates from client-side to server-side apply by means of the annotation.
class MigrationTest : public FieldManagerTest {
 protected:
  void SetUp() override {
    live_ =
        T("{'num':1,'str':'a','metadata':{'annotations':{"
          "'kubectl.kubernetes.io/last-applied-configuration':"
          "'{\\'apiVersion\\':\\'v1\\',\\'kind\\':\\'T\\',\\'num\\':1,\\'str\\':\\'a\\'}'}}}");
    Managers managers;
    managers[{"kubectl-client-side-apply", false, "v1", ""}] = {
        *FieldsV1FromValue(J("{'f:num':{},'f:str':{}}")), "v1", ""};
    SetManagers(managers, &live_);
  }
};

TEST_F(MigrationTest, KubectlMayOverrideFieldsOfClientSideApply) {
  ASSERT_TRUE(Apply("{'num':5}", "kubectl").ok());
  EXPECT_EQ(OwnersOf(live_),
            R"(kubectl/Apply{"f:num":{}} kubectl-client-side-apply/Update{"f:str":{}} )");
  EXPECT_EQ(
      live_.At({"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"})
          ->as_string(),
      "{\"apiVersion\":\"v1\",\"kind\":\"T\",\"metadata\":{\"name\":\"x\"},\"num\":5}\n");
}

TEST_F(MigrationTest, OtherManagersConflictWithClientSideApply) {
  EXPECT_EQ(
      Apply("{'num':5}", "other").message(),
      "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .num");
}

TEST_F(MigrationTest, KubectlConflictsWithFieldsChangedSinceClientSideApply) {
  live_.as_object()["num"] = 2;
  EXPECT_TRUE(Apply("{'num':5}", "kubectl").Is(Reason::kConflict));
}

}  // namespace
}  // namespace cox::apply
