// SPDX-License-Identifier: Apache-2.0
#include "object/apply/new_object.h"

#include <gtest/gtest.h>

#include <string>

#include "object/apply/field_manager.h"
#include "object/apply/fields_v1.h"
#include "object/apply/managed_fields.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/testing/golden_objects.h"

namespace cox::apply {
namespace {

const Time kCreated = *Time::Parse("2030-01-01T00:00:00Z");

// The managedFields of a new object, computed in both ways.
struct Both {
  std::string from_struct;  // by EntriesOfNewObject
  std::string from_value;   // by UpdateManagers
};

std::string Text(const List<meta::v1::ManagedFieldsEntry>& entries) {
  std::string text;
  for (const meta::v1::ManagedFieldsEntry& entry : entries)
    text += json::Write(json::ToValue(entry));
  return text;
}

Both FieldsOf(const Object& object, const FieldSet& reset = {}) {
  const FieldManager fields(object.type(), {.api_version = object.gvk().group_version().ToString(),
                                            .kind = object.gvk().kind,
                                            .reset_fields = reset});
  Both both;
  const auto entries = fields.EntriesOfNewObject(object.data(), "test", kCreated);
  both.from_struct = entries ? Text(*entries) : "unsupported";
  const Result<Managers> managers =
      fields.UpdateManagers(fields.nothing(), object.ToValue(), "test", kCreated.ToString());
  both.from_value = managers.ok() ? Text(ManagedFieldsEntries(*managers)) : "unsupported";
  return both;
}

TEST(NewObjectTest, StructAndValueHaveTheSameFields) {
  const std::string_view kObjects[] = {
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"b/c":"d","a":""}},
          "data":{"x\"y":"1"},"binaryData":{"e":""}})",
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})",
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[
          {"port":80,"targetPort":"http"},{"port":53,"protocol":"UDP","targetPort":53}],
          "selector":{"app":"web"},"externalIPs":["10.0.0.1"]}})",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","finalizers":["b/c","a/b"],
          "ownerReferences":[{"uid":"1","kind":"K","name":"n","apiVersion":"v1"}]},
          "spec":{"containers":[{"name":"z","image":"i","ports":[{"containerPort":1}],
          "env":[{"name":"B"},{"name":"A","value":"1"}],"resources":{"limits":{"cpu":"1"}}},{"name":"b"}],
          "tolerations":[{"key":"k"}],"securityContext":{},"hostNetwork":true}})",
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":0,
          "selector":{},"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"}},
          "template":{"metadata":{"creationTimestamp":null}}},"status":{"replicas":1}})",
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"},
          "spec":{"renewTime":"2030-01-01T00:00:00.000000Z","holderIdentity":""}})",
  };
  for (const std::string_view json : kObjects) {
    const Both both = FieldsOf(ObjectFromJson(json));
    EXPECT_EQ(both.from_struct, both.from_value) << json;
    EXPECT_NE(both.from_struct, "unsupported") << json;
  }
}

TEST(NewObjectTest, ExcludedFieldsHaveNoOwner) {
  const Object object = ObjectFromJson(
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"NodePort",
          "ports":[{"port":80}]},"status":{"conditions":[{"type":"A","status":"True"}]}})");
  const FieldSet reset{{PathElement::Field("status")},
                       {PathElement::Field("spec"), PathElement::Field("type")}};
  const Both both = FieldsOf(object, reset);
  EXPECT_EQ(both.from_struct, both.from_value);
  EXPECT_EQ(both.from_struct.find("f:status"), both.from_struct.npos);
  EXPECT_EQ(both.from_struct.find("f:type"), both.from_struct.npos);
}

TEST(NewObjectTest, ItemsWithTheSameKeyAreNotSupported) {
  const Both both = FieldsOf(ObjectFromJson(
      R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"a"}]}})"));
  EXPECT_EQ(both.from_struct, "unsupported");
  EXPECT_NE(both.from_value, "unsupported");
}

TEST(NewObjectTest, StructAndValueHaveTheSameFieldsForAllKinds) {
  size_t compared = 0;
  size_t unsupported = 0;
  const auto compare = [&](const Object& object) {
    const Both both = FieldsOf(object);
    ++compared;
    if (both.from_struct == "unsupported") {
      ++unsupported;
    } else {
      EXPECT_EQ(both.from_struct, both.from_value) << json::Write(object.ToValue());
    }
  };
  const bool found = ForEachGoldenObject(10, [&](const Object& a, const Object& b) {
    compare(a);
    compare(b);
  });
  if (!found) GTEST_SKIP() << "the reference objects are missing";
  EXPECT_GT(compared, 1000U);
  EXPECT_LT(unsupported, compared / 10);
}

}  // namespace
}  // namespace cox::apply
