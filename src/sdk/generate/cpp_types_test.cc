// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/cpp_types.h"

#include <gtest/gtest.h>

#include "object/codec/yaml/yaml.h"

namespace cox::sdk {
namespace {

constexpr char kCrd[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backups.example.com}
spec:
  group: example.com
  names: {kind: Backup, plural: backups, singular: backup, shortNames: [bk]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        description: A backup.
        type: object
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            type: object
            required: [schedule]
            properties:
              schedule: {type: string, pattern: '^\S+$', description: "As \"cron\" has it."}
              keep: {type: integer, format: int32, default: 7, minimum: 1}
              new: {type: boolean}
              on-error: {type: string, enum: [Stop, Go]}
              labels: {type: object, additionalProperties: {type: string}}
              size: {x-kubernetes-int-or-string: true, pattern: '^([KMGTPE]i)$'}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              targets:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, at: {type: string, format: date-time}}
          status: {type: object, properties: {ready: {type: boolean}}}
)";

TEST(CppTypesTest, GeneratesStructsAndTheirDescriptions) {
  Result<std::vector<CppTypes>> types = CppTypesFromCrd(yaml::Parse(kCrd).value(), {.ns = "demo"});
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  ASSERT_EQ(types->size(), 1U);
  const CppTypes& v1 = types->front();
  for (const char* expected : {
           "namespace demo::v1 {",
           "struct BackupSpecTargets {",
           "  std::optional<cox::Time> at;",
           "  std::string schedule;",
           "  std::optional<int32_t> keep;",
           "  std::optional<bool> new_;",
           "  std::optional<std::string> on_error;",
           "  cox::Map<std::string> labels;",
           "  std::optional<cox::Quantity> size;",
           "  cox::RawJson any;",
           "  std::vector<BackupSpecTargets> targets;",
           "struct Backup {\n  cox::meta::v1::ObjectMeta metadata;\n  BackupSpec spec;\n",
       }) {
    EXPECT_NE(v1.header.find(expected), std::string::npos) << expected << "\n" << v1.header;
  }
  for (
      const char* expected : {
          R"(#include "backup_v1.h")",
          R"(COX_FIELD(schedule).Required().Doc("As \"cron\" has it.").Pattern("^\\S+$"))",
          R"(COX_FIELD(keep).Minimum(1).Default("7"))",
          R"(COX_FIELD(new_))",
          R"(COX_FIELD_NAMED(on_error, "on-error").OneOf({"Stop", "Go"}))",
          R"(COX_FIELD(targets).ListMap({"name"}))",
          R"(COX_KIND(Backup, (cox::KindOptions{.group = "example.com", .version = "v1", .plural = "backups")",
      }) {
    EXPECT_NE(v1.source.find(expected), std::string::npos) << expected << "\n" << v1.source;
  }
  // A struct is defined before the struct that contains it.
  EXPECT_LT(v1.header.find("struct BackupSpecTargets {"), v1.header.find("struct BackupSpec {"));
}

// A definition with one version whose schema has these properties (flow style).
std::string Crd(std::string_view names, std::string_view version, std::string_view properties,
                std::string_view more = "") {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
         "spec: {group: example.com, scope: Namespaced, names: {plural: backups, " +
         std::string(names) + "}, versions: [{name: " + std::string(version) +
         ", served: true, storage: true, " + std::string(more) +
         "schema: {openAPIV3Schema: {type: object, required: [count], properties: {" +
         std::string(properties) + "}}}}]}\n";
}

Result<CppTypes> TypesOf(const std::string& crd) {
  COX_ASSIGN_OR_RETURN(std::vector<CppTypes> all,
                       CppTypesFromCrd(yaml::Parse(crd).value(), CppTypesOptions()));
  return std::move(all.front());
}

TEST(CppTypesTest, PropertiesKeepTheirTypes) {
  const Result<CppTypes> types = TypesOf(
      Crd("kind: Backup", "v1",
          "count: {type: integer, format: int32, minimum: 1}, note: {type: string}, "
          "labels: {type: object, additionalProperties: {type: string}}, "
          "parts: {type: array, x-kubernetes-list-type: set, items: {type: string}}, "
          "data: {type: object, x-kubernetes-preserve-unknown-fields: true, "
          "properties: {a: {type: string}}}, "
          "template: {type: object, x-kubernetes-embedded-resource: true, "
          "properties: {spec: {type: object}}}, "
          "spec: {type: object, description: What is wanted., properties: {a: {type: string}}}"));
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  EXPECT_NE(types->header.find("struct Backup {\n"
                               "  cox::meta::v1::ObjectMeta metadata;\n"
                               "  int32_t count = 0;\n"
                               "  cox::RawJson data;\n"
                               "  cox::Map<std::string> labels;\n"
                               "  std::optional<std::string> note;\n"
                               "  std::vector<std::string> parts;\n"
                               "  // What is wanted.\n"
                               "  BackupSpec spec;\n"
                               "  cox::RawJson template_;\n"),
            std::string::npos)
      << types->header;
  EXPECT_NE(types->source.find("COX_FIELD(count).Required().Minimum(1)"), std::string::npos);
  EXPECT_NE(types->source.find("COX_FIELD(parts).ListSet()"), std::string::npos);
  EXPECT_EQ(types->source.find("BackupData"), std::string::npos) << types->source;
}

TEST(CppTypesTest, KeepsFormatsColumnsAndDeprecation) {
  const Result<CppTypes> types = TypesOf(
      Crd("kind: Backup", "v1beta1",
          "spec: {type: object, properties: {host: {type: string, format: hostname}, "
          "at: {type: string, format: date-time}, part: {type: number, format: float}, "
          "keep: {type: integer, format: int64}}}",
          "deprecated: true, deprecationWarning: use v1, additionalPrinterColumns: [{name: Host, "
          "type: string, jsonPath: .spec.host, description: Where., priority: 1}, "
          "{name: Keep, type: integer, jsonPath: .spec.keep}], "));
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  for (const char* expected : {
           R"(COX_FIELD(host).Format("hostname"))",
           R"(COX_FIELD(part).Format("float"))",
           R"(.json_path = ".spec.host", .description = "Where.", .priority = 1})",
           R"(.json_path = ".spec.keep"})",
           R"(.deprecation_warning = "use v1")",
       }) {
    EXPECT_NE(types->source.find(expected), std::string::npos) << expected << "\n" << types->source;
  }
  // The C++ types imply these formats.
  EXPECT_EQ(types->source.find("date-time"), std::string::npos);
  EXPECT_EQ(types->source.find("int64"), std::string::npos);

  const Result<CppTypes> silent = TypesOf(Crd("kind: Backup", "v1beta1", "", "deprecated: true, "));
  ASSERT_TRUE(silent.ok()) << silent.status().ToString();
  EXPECT_NE(
      silent->source.find(R"(.deprecation_warning = "example.com/v1beta1 Backup is deprecated")"),
      std::string::npos)
      << silent->source;
}

TEST(CppTypesTest, MembersHaveValidIdentifiers) {
  const Result<CppTypes> types =
      TypesOf(Crd("kind: Backup", "v1",
                  "spec: {type: object, properties: {constexpr: {type: string}, "
                  "co_await: {type: string}, bitand: {type: string}, char8_t: {type: string}, "
                  "unix: {type: string}, kType: {type: string}, 2fa: {type: string}, "
                  "tail_: {type: string}, a-b: {type: string}, a_b: {type: string}}}"));
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  for (const char* expected : {
           "COX_FIELD(constexpr_)",
           "COX_FIELD(co_await_)",
           "COX_FIELD(bitand_)",
           "COX_FIELD(char8_t_)",
           "COX_FIELD(unix_)",
           "COX_FIELD(kType_)",
           R"(COX_FIELD_NAMED(_2fa, "2fa"))",
           R"(COX_FIELD_NAMED(tail_, "tail_"))",
           R"(COX_FIELD_NAMED(a_b, "a-b"))",
           R"(COX_FIELD(a_b_))",
       }) {
    EXPECT_NE(types->source.find(expected), std::string::npos) << expected << "\n" << types->source;
  }
}

TEST(CppTypesTest, FilesAreNamedByTheSingularAndTheVersion) {
  EXPECT_EQ(TypesOf(Crd("kind: Backup, singular: bkp", "v1", ""))->stem, "bkp_v1");
  const Result<CppTypes> types = TypesOf(Crd("kind: BackupPlan", "v1alpha1", ""));
  EXPECT_EQ(types->stem, "backupplan_v1alpha1");
  EXPECT_NE(types->source.find("#include \"backupplan_v1alpha1.h\"\n"), std::string::npos);
}

TEST(CppTypesTest, RejectsInvalidFileAndStructNames) {
  const struct {
    std::string names, version, error;
  } kRows[] = {
      {"kind: Backup, singular: ../../etc/x", "v1",
       R"(spec.names.singular: "../../etc/x" is no DNS label)"},
      {"kind: Backup, singular: /etc/x", "v1", R"(spec.names.singular: "/etc/x" is no DNS label)"},
      {"kind: Backup", "../v1", R"(spec.versions: "../v1" is no DNS label)"},
      {"kind: Backup", "''", R"(spec.versions: "" is no DNS label)"},
      {"kind: ../x", "v1", R"(spec.names.kind: "../x" cannot name a struct)"},
      {"kind: 'A {}; int x'", "v1", R"(spec.names.kind: "A {}; int x" cannot name a struct)"},
      {"kind: class", "v1", R"(spec.names.kind: "class" cannot name a struct)"},
  };
  for (const auto& row : kRows) {
    const Result<CppTypes> types = TypesOf(Crd(row.names, row.version, ""));
    EXPECT_FALSE(types.ok()) << row.names;
    EXPECT_EQ(types.status().message(), row.error);
  }
}

TEST(CppTypesTest, DescriptionsCannotEscapeTheirComments) {
  const Result<CppTypes> types =
      TypesOf(Crd("kind: Backup", "v1",
                  R"(spec: {type: object, description: "a\rint b;\nint c; \\\nd", )"
                  "properties: {a: {type: string}}}"));
  ASSERT_TRUE(types.ok()) << types.status().ToString();
  EXPECT_NE(types->header.find("// a int b;\n// int c; \\.\n// d\nstruct BackupSpec {"),
            std::string::npos)
      << types->header;
}

TEST(CppTypesTest, RejectsARootThatPreservesUnknownFields) {
  std::string open = Crd("kind: Backup", "v1", "");
  const std::string_view root = "openAPIV3Schema: {";
  open.insert(open.find(root) + root.size(), "x-kubernetes-preserve-unknown-fields: true, ");
  EXPECT_EQ(TypesOf(open).status().message(), "Backup: a struct would lose its unknown fields");
}

TEST(CppTypesTest, RejectsOtherDocuments) {
  EXPECT_FALSE(CppTypesFromCrd(yaml::Parse("kind: Pod").value(), {}).ok());
  std::string unserved = Crd("kind: Backup", "v1", "");
  unserved.replace(unserved.find("served: true"), 12, "served: false");
  EXPECT_EQ(TypesOf(unserved).status().message(), "the definition serves no version");
}

}  // namespace
}  // namespace cox::sdk
