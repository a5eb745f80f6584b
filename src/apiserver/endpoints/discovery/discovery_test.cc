// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/discovery/discovery.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "object/codec.h"
#include "object/codec/json/json.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

namespace fs = std::filesystem;

const fs::path kScenarios =
    fs::path(test::SharedDirectory()) / "reference" / "scenarios" / "discovery";

// The recorded responses of a scenario, keyed by request path (and Accept header, if any). Only
// responses with status 200 and a JSON body.
std::vector<std::pair<std::string, Value>> Recorded(const std::string& name) {
  std::ifstream in(kScenarios / (name + ".json"), std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  std::vector<std::pair<std::string, Value>> answers;
  Result<Value> scenario = json::Parse(text.str());
  if (!scenario.ok()) return answers;
  for (const Value& step : scenario->Find("steps")->as_array()) {
    const Value* status = step.At({"expect", "status"});
    const Value* body = step.At({"expect", "body"});
    if (status == nullptr || *status != Value(200) || body == nullptr) continue;
    const Value* accept = step.At({"headers", "Accept"});
    std::string key(step.Find("path")->as_string());
    if (accept != nullptr) key += " " + std::string(accept->as_string());
    answers.emplace_back(std::move(key), *body);
  }
  return answers;
}

// Parses and rewrites the JSON, so that formatting does not matter.
std::string Json(const Object& object) {
  std::string text;
  EncodeObject(object, Format::kJson, &text);
  return json::Write(*json::Parse(text));
}

const DiscoveryDocuments& Defaults() {
  static const DiscoveryDocuments documents{ServedSet(DefaultServedKinds())};
  return documents;
}

TEST(DiscoveryTest, GroupsMatchRecordedResponses) {
  const auto answers = Recorded("groups");
  if (answers.empty()) GTEST_SKIP() << "no reference data";
  for (const auto& [path, body] : answers) {
    std::string group = path.substr(std::string("/apis/").size());
    if (group.ends_with('/')) group.pop_back();
    const Object* document = Defaults().Group(group);
    ASSERT_NE(document, nullptr) << path;
    EXPECT_EQ(Json(*document), json::Write(body));
  }
}

TEST(DiscoveryTest, ResourceListsMatchRecordedResponses) {
  const auto answers = Recorded("versions");
  if (answers.empty()) GTEST_SKIP() << "no reference data";
  for (const auto& [path, body] : answers) {
    Result<GroupVersion> gv = GroupVersion::Parse(body.Find("groupVersion")->as_string());
    ASSERT_TRUE(gv.ok());
    const Object* document = Defaults().Resources(gv->group, gv->version);
    ASSERT_NE(document, nullptr) << path;
    EXPECT_EQ(Json(*document), json::Write(body)) << path;
  }
}

TEST(DiscoveryTest, RootsMatchRecordedResponses) {
  const auto answers = Recorded("roots");
  if (answers.empty()) GTEST_SKIP() << "no reference data";
  for (const auto& [path, body] : answers) {
    const Value* kind = body.Find("kind");
    std::string ours;
    if (path.starts_with("/version") || kind == nullptr) continue;
    if (kind->as_string() == "APIVersions") {
      ours = Json(Defaults().ApiVersions("{{hostport}}"));
    } else if (kind->as_string() == "APIGroupList") {
      ours = Json(Defaults().Groups());
    } else {
      const auto& aggregated =
          path.starts_with("/apis") ? Defaults().AggregatedGroups() : Defaults().AggregatedCore();
      ours = json::Write(*json::Parse(aggregated.json.view()));
    }
    EXPECT_EQ(ours, json::Write(body)) << path;
  }
}

TEST(DiscoveryTest, GroupPathsMatchRecordedResponses) {
  const auto answers = Recorded("roots");
  if (answers.empty()) GTEST_SKIP() << "no reference data";
  for (const auto& [path, body] : answers) {
    const Value* paths = body.Find("paths");
    if (paths == nullptr) continue;
    std::vector<std::string> recorded;
    for (const Value& row : paths->as_array()) {
      if (row.as_string().starts_with("/api")) recorded.emplace_back(row.as_string());
    }
    EXPECT_EQ(Defaults().paths(), recorded);
  }
}

TEST(DiscoveryTest, VersionHasTheRecordedMembers) {
  Result<Value> ours = json::Parse(VersionDocument({.git_version = "v1.36.4+x"}));
  ASSERT_TRUE(ours.ok());
  EXPECT_EQ(ours->Find("gitVersion")->as_string(), "v1.36.4+x");
  for (const auto& [path, body] : Recorded("roots")) {
    if (path != "/version") continue;
    ASSERT_EQ(ours->as_object().size(), body.as_object().size());
    for (const auto& member : body.as_object()) {
      const Value* value = ours->Find(member.key);
      ASSERT_NE(value, nullptr) << member.key;
      if (member.value != Value("{{any}}")) {
        EXPECT_EQ(*value, member.value) << member.key;
      }
    }
  }
}

constexpr std::string_view kVerbs[] = {"get", "list"};
constexpr SubresourceInfo kStatus[] = {
    {.name = "status", .group = "x.io", .version = "v1", .kind = "W", .verbs = kVerbs}};
constexpr KindInfo kCustomV1 = {.group = "x.io",
                                .version = "v1",
                                .kind = "W",
                                .plural = "ws",
                                .singular = "w",
                                .namespaced = true,
                                .verbs = kVerbs,
                                .subresources = kStatus};
constexpr KindInfo kCustomBeta = {.group = "x.io",
                                  .version = "v1beta1",
                                  .kind = "W",
                                  .plural = "ws",
                                  .singular = "w",
                                  .verbs = kVerbs};

TEST(DiscoveryTest, CustomResourcesChangeWithoutAffectingHeldDocuments) {
  std::vector<ServedKind> kinds = DefaultServedKinds();
  ServedSetPtr now = std::make_shared<const ServedSet>(kinds);
  const Discovery discovery([&now] { return now; });
  const auto before = discovery.documents();
  kinds.push_back({.kind = &kCustomBeta, .custom = true});
  kinds.push_back({.kind = &kCustomV1, .custom = true});
  now = std::make_shared<const ServedSet>(kinds);
  const auto after = discovery.documents();
  EXPECT_EQ(discovery.documents(), after);

  EXPECT_EQ(before->Group("x.io"), nullptr);
  ASSERT_NE(after->Group("x.io"), nullptr);
  EXPECT_EQ(json::Write(*after->Group("x.io")->ToValue().Find("preferredVersion")),
            R"({"groupVersion":"x.io/v1","version":"v1"})");
  EXPECT_NE(before->AggregatedGroups().etag, after->AggregatedGroups().etag);
  EXPECT_EQ(before->AggregatedCore().etag, after->AggregatedCore().etag);
  // Custom resources include their group in responseKind, also for their subresources.
  EXPECT_NE(
      after->AggregatedGroups().json.view().find(
          R"("subresource":"status","responseKind":{"group":"x.io","version":"v1","kind":"W"})"),
      std::string_view::npos);
  const Value groups = after->Groups().ToValue();
  EXPECT_EQ(groups.Find("groups")->as_array().back().Find("name")->as_string(), "x.io");
}

TEST(ServedTest, OnlyStableVersionsAreServedByDefault) {
  EXPECT_TRUE(IsServedByDefault("", "v1", "pods"));
  EXPECT_TRUE(IsServedByDefault("autoscaling", "v1", "horizontalpodautoscalers"));
  EXPECT_TRUE(IsServedByDefault("apps", "v1"));
  EXPECT_FALSE(IsServedByDefault("apps", "v1beta1"));
  EXPECT_FALSE(IsServedByDefault("storagemigration.k8s.io", "v1beta1"));
  EXPECT_FALSE(IsServedByDefault("resource.k8s.io", "v1beta2", "resourceclaims"));
}

TEST(ServedTest, VersionsAreOrderedByStabilityThenNumber) {
  std::vector<std::string> versions = {"foo10", "v1alpha1", "v11alpha2", "v2",  "v1",
                                       "v10",   "v3beta1",  "v11beta2",  "foo1"};
  std::sort(versions.begin(), versions.end(), VersionBefore);
  EXPECT_EQ(versions, (std::vector<std::string>{"v10", "v2", "v1", "v11beta2", "v3beta1",
                                                "v11alpha2", "v1alpha1", "foo1", "foo10"}));
}

}  // namespace
}  // namespace cox::apiserver
