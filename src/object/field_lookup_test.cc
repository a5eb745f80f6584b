// SPDX-License-Identifier: Apache-2.0
#include "object/field_lookup.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec/json/json.h"

namespace cox {
namespace {

TEST(ParsePath, ParsesNamesIndexesAndKeys) {
  auto path = ParsePath("spec.containers[0].env[12]");
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(*path, (std::vector<PathStep>{{"spec"}, {"containers"}, {"", 0}, {"env"}, {"", 12}}));
  EXPECT_EQ((*ParsePath("metadata.labels['a.b/c']"))[2].name, "a.b/c");
  EXPECT_EQ((*ParsePath("metadata.labels[\"x]y\"]"))[2].name, "x]y");
}

TEST(ParsePath, RejectsMalformedPaths) {
  for (const char* bad : {"", ".a", "a.", "a..b", "a[", "a[x]", "a[-1]", "a['x]", "a[0]b",
                          "a[99999999999999999999]"}) {
    EXPECT_TRUE(ParsePath(bad).status().Is(Reason::kBadRequest)) << bad;
  }
}

TEST(FieldText, ReadsTypedAndDynamicObjects) {
  core::v1::Pod pod{.metadata = {.name = "p", .labels = {{"a.b/c", "x"}}},
                    .spec = {.containers = {{.name = "c"}}}};
  pod.spec.nodeName = "n";
  pod.spec.hostNetwork = true;
  pod.spec.priority = 7;
  pod.spec.volumes = {{.name = "v"}};
  pod.spec.volumes[0].volumeSource.hostPath = core::v1::HostPathVolumeSource{.path = "/x"};
  Object typed = Object::Of(pod);
  Object dynamic({"", "v1", "Pod"}, types::kAny, json::ToValue(pod));
  struct {
    const char* path;
    std::optional<std::string> text;
  } cases[] = {
      {"metadata.name", "p"},
      {"metadata.labels['a.b/c']", "x"},
      {"metadata.labels['none']", std::nullopt},
      {"spec.nodeName", "n"},
      {"spec.hostNetwork", "true"},
      {"spec.priority", "7"},
      {"spec.containers[0].name", "c"},
      {"spec.containers[1].name", std::nullopt},
      {"spec.volumes[0].hostPath.path", "/x"},
      {"spec.volumes[0].volumeSource.hostPath.path", std::nullopt},
      {"spec.securityContext.runAsUser", std::nullopt},
      {"spec.containers", std::nullopt},
      {"spec.containers.name", std::nullopt},
      {"spec[0]", std::nullopt},
      {"nope", std::nullopt},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FieldText(typed, *ParsePath(c.path)), c.text) << c.path;
    EXPECT_EQ(FieldText(dynamic, *ParsePath(c.path)), c.text) << c.path;
  }
}

}  // namespace
}  // namespace cox
