// SPDX-License-Identifier: Apache-2.0
#include "coxswain/custom_resource.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "object/runtime_type.h"

namespace demo {

struct Target {
  std::string name;
  cox::IntOrString port;
  static const cox::Type kType;
};

struct BackupSpec {
  std::string schedule;
  std::optional<int32_t> keep;
  bool suspend = false;
  std::vector<std::string> databases;
  std::vector<Target> targets;
  cox::Map<std::string> options;
  cox::Box<cox::core::v1::ResourceRequirements> resources;
  cox::Quantity size;
  cox::RawJson extra;
  std::string namespace_;
  std::string tail_;
  static const cox::Type kType;
};

struct BackupStatus {
  cox::List<cox::meta::v1::Condition> conditions;
  std::optional<cox::Time> last;
  int64_t observedGeneration = 0;
  static const cox::Type kType;
};

struct Backup {
  cox::meta::v1::ObjectMeta metadata;
  BackupSpec spec;
  BackupStatus status;
  static const cox::Type kType;
  static const cox::KindInfo kKind;
};

// Outer structs first, because the order of descriptions must not matter.
COX_KIND(Backup,
         (cox::KindOptions{.group = "example.com",
                           .version = "v1",
                           .short_names = {"bk"},
                           .categories = {"all"},
                           .columns = {{.name = "Schedule", .json_path = ".spec.schedule"}},
                           .doc = "A backup."}),
         COX_FIELD(spec).Required(), COX_FIELD(status))

COX_STRUCT(BackupSpec, "What is backed up, and when.",
           COX_FIELD(schedule).Required().Doc("As cron has it.").Pattern("^.+$").MinLength(1),
           COX_FIELD(keep).Default("7").Minimum(1).Maximum(100), COX_FIELD(suspend),
           COX_FIELD(databases).ListSet().MaxItems(10),
           COX_FIELD(targets).ListMap({"name"}).Rule("size(self) < 5", "too many targets"),
           COX_FIELD(options), COX_FIELD(resources), COX_FIELD(size), COX_FIELD(extra),
           COX_FIELD(namespace_).OneOf({"a", "b"}), COX_FIELD_NAMED(tail_, "on-tail_"))
COX_STRUCT(Target, "Where it goes.", COX_FIELD(name), COX_FIELD(port))
COX_STRUCT(BackupStatus, "", COX_FIELD(conditions).ListMap({"type"}), COX_FIELD(last),
           COX_FIELD(observedGeneration))

}  // namespace demo

namespace cox {
namespace {

using demo::Backup;

constexpr char kBackup[] =
    R"({"kind":"Backup","apiVersion":"example.com/v1","metadata":{"name":"b","namespace":"default"},)"
    R"("spec":{"schedule":"0 0 * * *","keep":0,"databases":["x"],"targets":[{"name":"t","port":"http"}],)"
    R"("options":{"k":"v"},"resources":{"limits":{"cpu":"1"}},"size":"1Gi","extra":{"any":[1]},)"
    R"("namespace":"a","on-tail_":"t"},"status":{"last":"2026-01-02T03:04:05Z","observedGeneration":3}})";

TEST(CustomResourceTest, StructsAreReadAndWrittenAsJson) {
  Scheme scheme;
  scheme.Add(Backup::kKind);
  Result<Object> object = DecodeObject(kBackup, Format::kJson, scheme);
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  const Backup* backup = object->As<Backup>();
  ASSERT_NE(backup, nullptr);
  EXPECT_EQ(backup->metadata.name, "b");
  EXPECT_EQ(backup->spec.keep, 0);
  EXPECT_EQ(backup->spec.targets.at(0).port.ToString(), "http");
  // COX_FIELD_NAMED keeps a trailing underscore.
  EXPECT_EQ(backup->spec.namespace_, "a");
  EXPECT_EQ(backup->spec.tail_, "t");
  EXPECT_EQ(backup->status.observedGeneration, 3);
  std::string text;
  EncodeObject(*object, Format::kJson, &text);
  EXPECT_EQ(json::Parse(text).value(), json::Parse(kBackup).value());
  // object_meta works as for built-in kinds; copies are deep.
  EXPECT_EQ(object->object_meta()->name, "b");
  const Object copy = *object;
  object->As<Backup>()->spec.databases.clear();
  EXPECT_EQ(copy.As<Backup>()->spec.databases.size(), 1U);
}

TEST(CustomResourceTest, InvalidAndUnknownFieldsAreErrors) {
  Backup backup;
  json::Strictness strict;
  EXPECT_FALSE(json::Decode(R"({"spec":{"keep":"x"}})", Backup::kType, &backup).ok());
  ASSERT_TRUE(json::Decode(R"({"spec":{"kept":1}})", Backup::kType, &backup, &strict).ok());
  ASSERT_EQ(strict.errors.size(), 1U);
  EXPECT_NE(strict.errors[0].find("spec.kept"), std::string::npos);
}

TEST(CustomResourceTest, ZeroValuesAreOmittedUnlessRequired) {
  const std::string text = json::Encode(Backup{});
  EXPECT_EQ(text, R"({"metadata":{},"spec":{"schedule":""}})") << text;
}

TEST(CrdTest, SchemaMatchesTheDescriptions) {
  const std::string yaml = CrdYaml(CrdOf<Backup>());
  const Value crd = yaml::Parse(yaml).value();
  EXPECT_EQ(crd.At({"metadata", "name"})->as_string(), "backups.example.com");
  EXPECT_EQ(crd.At({"spec", "scope"})->as_string(), "Namespaced");
  EXPECT_EQ(crd.Find("status"), nullptr);
  const Value& version = crd.At({"spec", "versions"})->as_array()[0];
  EXPECT_TRUE(version.Find("storage")->as_bool());
  EXPECT_NE(version.At({"subresources", "status"}), nullptr);
  const Value& schema = *version.At({"schema", "openAPIV3Schema"});
  EXPECT_EQ(schema.Find("description")->as_string(), "A backup.");
  const Value& spec = *schema.At({"properties", "spec"});
  EXPECT_EQ(spec.Find("required")->as_array().size(), 1U);
  const struct {
    std::string_view field, member, json;
  } kRows[] = {
      {"schedule", "pattern", R"("^.+$")"},
      {"schedule", "minLength", "1"},
      {"schedule", "description", R"("As cron has it.")"},
      {"keep", "default", "7"},
      {"keep", "minimum", "1"},
      {"keep", "format", R"("int32")"},
      {"suspend", "type", R"("boolean")"},
      {"databases", "x-kubernetes-list-type", R"("set")"},
      {"databases", "maxItems", "10"},
      {"targets", "x-kubernetes-list-map-keys", R"(["name"])"},
      {"targets", "x-kubernetes-validations",
       R"([{"rule":"size(self) < 5","message":"too many targets"}])"},
      {"options", "additionalProperties", R"({"type":"string"})"},
      {"size", "x-kubernetes-int-or-string", "true"},
      {"extra", "x-kubernetes-preserve-unknown-fields", "true"},
      {"namespace", "enum", R"(["a","b"])"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(std::string(row.field) + " " + std::string(row.member));
    const Value* found = spec.At({"properties", row.field, row.member});
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, json::Parse(row.json).value());
  }
  // A nested struct of the API has its complete schema.
  EXPECT_NE(spec.At({"properties", "resources", "properties", "limits", "additionalProperties"}),
            nullptr);
  // Merge keys of list items are required.
  EXPECT_EQ(*spec.At({"properties", "targets", "items", "required"}),
            json::Parse(R"(["name"])").value());
}

TEST(CrdTest, SchemaAcceptsTheJsonOfTheStructs) {
  const Value crd = yaml::Parse(CrdYaml(CrdOf<Backup>())).value();
  const Value& schema =
      *crd.At({"spec", "versions"})->as_array()[0].At({"schema", "openAPIV3Schema"});
  Result<std::shared_ptr<const RuntimeType>> type =
      RuntimeType::FromSchema(schema, {.metadata = &meta::v1::ObjectMeta::kType});
  ASSERT_TRUE(type.ok()) << type.status().ToString();
  Value value = json::Parse(kBackup).value();
  EXPECT_TRUE(Prune(value, (*type)->type()).empty());
  Value without = json::Parse(R"({"spec":{"schedule":"x"}})").value();
  ApplyDefaults(without, (*type)->type());
  EXPECT_EQ(without.At({"spec", "keep"})->as_int(), 7);
}

}  // namespace
}  // namespace cox
