// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/cpp_types.h"

#include <gtest/gtest.h>

#include "object/yaml/yaml.h"

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

TEST(CppTypesTest, WritesStructsAndTheirDescription) {
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
  // A struct stands before what contains it.
  EXPECT_LT(v1.header.find("struct BackupSpecTargets {"), v1.header.find("struct BackupSpec {"));
}

TEST(CppTypesTest, RefusesWhatIsNoDefinition) {
  EXPECT_FALSE(CppTypesFromCrd(yaml::Parse("kind: Pod").value(), {}).ok());
  EXPECT_EQ(CppTypesFromCrd(yaml::Parse(kCrd).value(), {.only_version = "v9"}).status().message(),
            "the definition has no such version");
}

}  // namespace
}  // namespace cox::sdk
