// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/unimplemented/path_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

using core::v1::Pod;
using testing::ElementsAre;
using testing::IsEmpty;

Pod ParsePod(std::string_view text) {
  const Result<Value> value = json::Parse(text);
  EXPECT_TRUE(value.ok()) << text;
  const Result<Pod> pod = json::FromValue<Pod>(*value);
  EXPECT_TRUE(pod.ok()) << pod.status().message();
  return *pod;
}

// Returns the paths of all matches, with the number of the path: "0 spec.volumes[1].csi".
std::vector<std::string> Matches(const std::vector<std::string>& paths, std::string_view pod) {
  PathTree tree(Pod::kType);
  for (size_t i = 0; i < paths.size(); ++i) {
    EXPECT_TRUE(tree.Add(paths[i], static_cast<int>(i)).ok()) << paths[i];
  }
  std::vector<std::string> found;
  const Pod object = ParsePod(pod);
  tree.Visit(&object, [&found](const PathTree::Match& match) {
    found.push_back(std::to_string(match.id) + " " + match.path());
  });
  return found;
}

TEST(PathTreeTest, FindsPresentValues) {
  const std::pair<const char*, const char*> kCases[] = {
      {"spec.priorityClassName", R"({"spec":{"priorityClassName":"p"}})"},
      {"spec.hostNetwork", R"({"spec":{"hostNetwork":true}})"},
      {"spec.hostUsers", R"({"spec":{"hostUsers":false}})"},
      {"spec.affinity.podAffinity", R"({"spec":{"affinity":{"podAffinity":{}}}})"},
      {"spec.resourceClaims", R"({"spec":{"resourceClaims":[{}]}})"},
      {"spec.nodeSelector", R"({"spec":{"nodeSelector":{"a":"b"}}})"},
  };
  for (const auto& [path, pod] : kCases) {
    EXPECT_THAT(Matches({path}, pod), ElementsAre(std::string("0 ") + path));
  }
}

TEST(PathTreeTest, IgnoresAbsentAndEmptyValues) {
  const std::pair<const char*, const char*> kCases[] = {
      {"spec.priorityClassName", R"({"spec":{"priorityClassName":""}})"},
      {"spec.hostNetwork", R"({"spec":{"hostNetwork":false}})"},
      {"spec.hostUsers", R"({"spec":{}})"},
      {"spec.affinity.podAffinity", R"({"spec":{"affinity":{}}})"},
      {"spec.affinity.podAffinity", "{}"},
      {"spec.resourceClaims", R"({"spec":{"resourceClaims":[]}})"},
      {"spec.volumes[].csi", R"({"spec":{"volumes":[{"emptyDir":{}}]}})"},
      {"spec.nodeSelector['a']", R"({"spec":{"nodeSelector":{"b":"c"}}})"},
  };
  for (const auto& [path, pod] : kCases) EXPECT_THAT(Matches({path}, pod), IsEmpty()) << path;
}

TEST(PathTreeTest, PathsContainIndexesAndKeys) {
  EXPECT_THAT(
      Matches({"spec.volumes[].csi"}, R"({"spec":{"volumes":[{"csi":{}},{"nfs":{}},{"csi":{}}]}})"),
      ElementsAre("0 spec.volumes[0].csi", "0 spec.volumes[2].csi"));
  EXPECT_THAT(
      Matches({"spec.containers[].resources.limits['huge*']",
               "spec.containers[].resources.limits['a.b/c']"},
              R"({"spec":{"containers":[{},{"resources":{"limits":{"a.b/c":"1","hugepages-1Gi":"2",
                 "hug":"3"}}}]}})"),
      ElementsAre("0 spec.containers[1].resources.limits['hugepages-1Gi']",
                  "1 spec.containers[1].resources.limits['a.b/c']"));
}

TEST(PathTreeTest, PathsWithTheSameBeginningAreFoundTogether) {
  EXPECT_THAT(Matches({"spec.volumes[].csi", "spec.volumes[].nfs", "spec.volumes", "spec.hostPID"},
                      R"({"spec":{"hostPID":true,"volumes":[{"nfs":{}},{"csi":{}}]}})"),
              ElementsAre("2 spec.volumes", "1 spec.volumes[0].nfs", "0 spec.volumes[1].csi",
                          "3 spec.hostPID"));
}

TEST(PathTreeTest, ParentContainsTheValue) {
  PathTree tree(Pod::kType);
  ASSERT_TRUE(tree.Add("spec.volumes[].emptyDir.sizeLimit", 0).ok());
  const Pod pod =
      ParsePod(R"({"spec":{"volumes":[{"emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}]}})");
  const Type* parent = nullptr;
  tree.Visit(&pod, [&parent](const PathTree::Match& match) { parent = match.parent.type; });
  EXPECT_EQ(parent, &core::v1::EmptyDirVolumeSource::kType);
}

TEST(PathTreeTest, PathsThatDoNotExistAreRejected) {
  PathTree tree(Pod::kType);
  for (const char* path : {"spec.none", "spec.volumes.csi", "spec[]", "spec.volumes[]csi.",
                           "spec.hostPID.x", "spec.volumes[", "spec.volumes[].volumeSource"}) {
    EXPECT_FALSE(tree.Add(path, 0).ok()) << path;
  }
}

}  // namespace
}  // namespace cox::apiserver
