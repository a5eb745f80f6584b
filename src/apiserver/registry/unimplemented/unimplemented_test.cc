// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/unimplemented/unimplemented.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "api/apps/v1.h"
#include "api/batch/v1.h"
#include "api/certificates/v1.h"
#include "api/core/v1.h"
#include "api/meta/v1.h"
#include "api/rbac/v1.h"
#include "apiserver/registry/unimplemented/features.h"
#include "object/codec/json/json.h"
#include "object/patch/merge_patch.h"
#include "tests/paths/paths.h"

namespace cox::apiserver {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const UserInfo kUser{.name = "alice", .uid = {}, .groups = {}, .extra = {}};

Result<Object> TryMake(const KindInfo& kind, const std::string& json) {
  Object object(kind);
  COX_ASSIGN_OR_RETURN(Value value, json::Parse(json));
  COX_RETURN_IF_ERROR(object.FromValue(std::move(value)));
  return object;
}
Object Make(const KindInfo& kind, const std::string& json) {
  Result<Object> object = TryMake(kind, json);
  EXPECT_TRUE(object.ok()) << object.status().message() << json;
  return object.ok() ? *std::move(object) : Object(kind);
}
std::vector<std::string> Warnings(const Object& object) {
  return UnimplementedWarnings(kUser, object, nullptr);
}

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Returns an object in JSON that has `leaf` at `path`, with one item in each list.
std::string JsonAt(std::string_view path, const std::string& leaf) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (path.empty()) return leaf;
  if (path.starts_with("[]")) return "[" + JsonAt(path.substr(2), leaf) + "]";
  const bool is_key = path.starts_with("['");
  const size_t begin = is_key ? 2 : 0;
  const size_t end = is_key ? path.find("']") : std::min(path.find_first_of(".["), path.size());
  return "{\"" + std::string(path.substr(begin, end - begin)) +
         "\":" + JsonAt(path.substr(is_key ? end + 2 : end), leaf) + "}";
}

// An entry of the table in an object of a kind.
struct Example {
  explicit Example(const Feature& f) : feature(f) {
    kind = f.kind == nullptr ? &core::v1::Pod::kKind : f.kind;
    path = f.kind == nullptr ? "spec." + std::string(f.path) : std::string(f.path);
    Replace(path, "*", "2Mi");
    value = std::string(f.value);
    Replace(value, "*", "x");
  }

  // An object with this JSON value at the path; nullopt if the field has another type.
  std::optional<Object> With(const std::string& leaf) const {
    Result<Object> object = TryMake(*kind, JsonAt(path, leaf));
    if (!object.ok()) return std::nullopt;
    return *std::move(object);
  }
  // An object that requests the feature.
  Object Requesting() const {
    if (path.empty()) return Object(*kind);
    const std::string scalar = value == "false" ? value : "\"" + value + "\"";
    for (const std::string& leaf : value.empty()
                                       ? std::vector<std::string>{"{}", "[{}]", "\"1\"", "1"}
                                       : std::vector<std::string>{scalar}) {
      if (std::optional<Object> object = With(leaf)) return *std::move(object);
    }
    ADD_FAILURE() << "no value for " << path;
    return Object(*kind);
  }
  std::string Warning() const {
    std::string subject = path;
    Replace(subject, "[]", "[0]");
    if (!value.empty()) subject += "=" + value;
    if (path.empty()) subject = kind->kind;
    return subject + ": not implemented: " + std::string(feature.effect);
  }

  const Feature& feature;
  const KindInfo* kind;
  std::string path, value;
};

TEST(UnimplementedTest, EveryEntryCausesExactlyItsWarning) {
  for (const Feature& feature : UnimplementedFeatures()) {
    if (!feature.subresource.empty()) continue;
    const Example example(feature);
    EXPECT_THAT(Warnings(example.Requesting()), ElementsAre(example.Warning()));
  }
}

TEST(UnimplementedTest, ObjectsWithoutTheFieldOrTheValueCauseNoWarning) {
  for (const Feature& feature : UnimplementedFeatures()) {
    Example example(feature);
    if (example.path.empty()) continue;
    std::vector<std::string> leaves = {"null"};
    if (!feature.value.empty())
      leaves.emplace_back(feature.value == "false" ? "true" : "\"other\"");
    if (example.path.ends_with("']")) {  // a null in a map is an entry
      Replace(example.path, "['", "['other-");
      leaves = {"1"};
    }
    for (const std::string& leaf : leaves) {
      const std::optional<Object> object = example.With(leaf);
      ASSERT_TRUE(object.has_value()) << example.path << " " << leaf;
      EXPECT_THAT(Warnings(*object), IsEmpty()) << example.path << " " << leaf;
    }
  }
}

TEST(UnimplementedTest, EveryTemplateIsChecked) {
  for (const PodSpecPath& spec : PodSpecPaths()) {
    const std::string path = std::string(spec.path) + ".volumes[0].csi";
    const std::string json = JsonAt(std::string(spec.path) + ".volumes[].csi", "{}");
    EXPECT_THAT(Warnings(Make(*spec.kind, json)),
                Contains(path + ": not implemented: the kubelet does not mount the volume or start "
                                "the Pod"))
        << spec.kind->kind;
  }
}

TEST(UnimplementedTest, ExceptionsCauseNoWarning) {
  struct Case {
    const KindInfo& kind;
    const char *requests, *excepted;
  };
  const Case kCases[] = {
      {core::v1::Pod::kKind, R"({"spec":{"priorityClassName":"p"}})",
       R"({"spec":{"priorityClassName":"p","preemptionPolicy":"Never"}})"},
      {core::v1::Pod::kKind, R"({"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1Gi"}}]}})",
       R"({"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1Gi","medium":"Memory"}}]}})"},
      {core::v1::Endpoints::kKind, R"({"subsets":[{}]})",
       R"({"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}},
           "subsets":[{}]})"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(Warnings(Make(c.kind, c.requests)).size(), 1U) << c.requests;
    EXPECT_THAT(Warnings(Make(c.kind, c.excepted)), IsEmpty()) << c.excepted;
  }
}

TEST(UnimplementedTest, ImplementedRequestsCauseNoWarning) {
  const std::pair<const KindInfo&, const char*> kCases[] = {
      {core::v1::Pod::kKind,
       R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"},
           "requests":{"ephemeral-storage":"1Gi","example.com/gpu":"1"}},
           "env":[{"name":"E","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
           "volumeMounts":[{"name":"a","mountPath":"/a","recursiveReadOnly":"IfPossible"}]}],
           "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
           {"nodeSelectorTerms":[{}]}}},"hostUsers":true,
           "volumes":[{"name":"a","emptyDir":{}},{"name":"b","hostPath":{"path":"/b"}},
           {"name":"c","configMap":{}},{"name":"d","secret":{}},{"name":"e","downwardAPI":{}},
           {"name":"f","projected":{}}]}})"},
      {apps::v1::Deployment::kKind, R"({"spec":{"template":{"spec":{"containers":[{}]}}}})"},
      {batch::v1::Job::kKind, R"({"spec":{"completions":3}})"},
      {core::v1::Service::kKind, R"({"spec":{"type":"NodePort"}})"},
      {core::v1::Secret::kKind, R"({"type":"Opaque"})"},
      {core::v1::ConfigMap::kKind, R"({"data":{"a":"b"}})"},
      {certificates::v1::CertificateSigningRequest::kKind,
       R"({"spec":{"signerName":"example.com/own"}})"},
  };
  for (const auto& [kind, json] : kCases) EXPECT_THAT(Warnings(Make(kind, json)), IsEmpty());
}

TEST(UnimplementedTest, ItemsOfOneListCauseOneWarning) {
  std::string volumes;
  for (int i = 0; i < 1000; ++i) volumes += std::string(i == 0 ? "" : ",") + R"({"csi":{}})";
  EXPECT_THAT(Warnings(Make(core::v1::Pod::kKind, R"({"spec":{"volumes":[)" + volumes + "]}}")),
              ElementsAre("spec.volumes[0].csi: not implemented: the kubelet does not mount the "
                          "volume or start the Pod"));
}

TEST(UnimplementedTest, ComponentsOfTheClusterGetNoWarnings) {
  const Object object(apps::v1::StatefulSet::kKind);
  for (const char* name : {"system:apiserver", "system:kube-scheduler",
                           "system:kube-controller-manager", "system:kube-proxy", "system:node:n1",
                           "system:serviceaccount:kube-system:job-controller"}) {
    UserInfo user = kUser;
    user.name = name;
    EXPECT_THAT(UnimplementedWarnings(user, object, nullptr), IsEmpty()) << name;
    EXPECT_THAT(UnimplementedSubresourceWarnings(user, core::v1::Pod::kKind, "resize"), IsEmpty());
  }
  for (const char* name : {"alice", "kubernetes-admin", "system:admin",
                           "system:serviceaccount:default:kube-system:x", "system:nodes"}) {
    UserInfo user = kUser;
    user.name = name;
    EXPECT_EQ(UnimplementedWarnings(user, object, nullptr).size(), 1U) << name;
  }
}

TEST(UnimplementedTest, OnlyUpdatesOfTheSpecCauseWarnings) {
  struct Case {
    const KindInfo& kind;
    const char *object, *change;
    bool warns;
  };
  const char* const kSet = R"({"metadata":{"generation":1},"spec":{"replicas":1}})";
  const char* const kRole = R"({"aggregationRule":{},"rules":[]})";
  const Case kCases[] = {
      {apps::v1::StatefulSet::kKind, kSet, R"({"metadata":{"generation":2}})", true},
      {apps::v1::StatefulSet::kKind, kSet, R"({"metadata":{"labels":{"a":"b"}}})", false},
      // Kinds without a generation.
      {rbac::v1::ClusterRole::kKind, kRole, R"({"rules":[{"verbs":["get"]}]})", true},
      {rbac::v1::ClusterRole::kKind, kRole, R"({"metadata":{"resourceVersion":"7"}})", false},
      {rbac::v1::ClusterRole::kKind, kRole, R"({"aggregationRule":null,"rules":[{}]})", false},
      // Its specification cannot request more than on creation.
      {core::v1::Pod::kKind, R"({"spec":{"priorityClassName":"p"}})",
       R"({"metadata":{"generation":2}})", false},
  };
  for (const Case& c : kCases) {
    const Object old = Make(c.kind, c.object);
    Result<Value> changed = patch::ApplyMergePatch(old.ToValue(), *json::Parse(c.change));
    ASSERT_TRUE(changed.ok());
    Object object(c.kind);
    ASSERT_TRUE(object.FromValue(*std::move(changed)).ok());
    EXPECT_EQ(!UnimplementedWarnings(kUser, object, &old).empty(), c.warns) << c.change;
  }
}

TEST(UnimplementedTest, ResizeCausesAWarning) {
  EXPECT_THAT(UnimplementedSubresourceWarnings(kUser, core::v1::Pod::kKind, "resize"),
              ElementsAre("Pod/resize: not implemented: the kubelet does not change the resources "
                          "of running containers"));
  EXPECT_THAT(UnimplementedSubresourceWarnings(kUser, core::v1::Pod::kKind, "status"), IsEmpty());
}

std::string EntryText(const std::string& kind, const std::string& request,
                      const std::string& effect) {
  return kind + "|" + request + "|" + effect;
}

// One entry, as the documentation contains it.
std::string Documented(const Feature& feature) {
  std::string kind =
      feature.kind == nullptr ? "Pod specification" : std::string(feature.kind->kind);
  if (!feature.subresource.empty()) kind.append("/").append(feature.subresource);
  std::string request(feature.path);
  if (!feature.value.empty()) request.append("=").append(feature.value);
  if (!feature.unless.empty()) request.append(" unless ").append(feature.unless);
  return EntryText(kind, request, std::string(feature.effect));
}

std::vector<std::string> Split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos;
       begin = end + separator.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// The entries of the table in "### Warnings". A row has a list of kinds or a list of requests.
std::set<std::string> DocumentedEntries() {
  std::ifstream file(std::string(test::SourceDirectory()) + "/docs/differences.md");
  std::set<std::string> entries;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) inside = line == "### Warnings";
    if (!inside || !line.starts_with("| ") || line.starts_with("| object ")) continue;
    const std::vector<std::string> cells = Split(line.substr(2, line.size() - 4), " | ");
    EXPECT_EQ(cells.size(), 3U) << line;
    if (cells.size() != 3) continue;
    for (const std::string& kind : Split(cells[0], ", ")) {
      for (std::string request : Split(cells[1], ", ")) {
        if (request == "any") request.clear();
        std::erase(request, '`');
        entries.insert(EntryText(kind, request, cells[2]));
      }
    }
  }
  return entries;
}

TEST(UnimplementedTest, TableAndDocumentationAgree) {
  std::set<std::string> entries;
  for (const Feature& feature : UnimplementedFeatures()) entries.insert(Documented(feature));
  EXPECT_EQ(entries.size(), UnimplementedFeatures().size()) << "an entry occurs twice";
  const std::set<std::string> documented = DocumentedEntries();
  for (const std::string& entry : entries) {
    EXPECT_TRUE(documented.contains(entry)) << "not in docs/differences.md: " << entry;
  }
  for (const std::string& entry : documented) {
    EXPECT_TRUE(entries.contains(entry)) << "only in docs/differences.md: " << entry;
  }
}

}  // namespace
}  // namespace cox::apiserver
