// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/requests.h"

#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "api/rbac/v1.h"

namespace cox::sdk {
namespace {

using Verb = Operation::Verb;

const Resource kPods = Resource::Of<core::v1::Pod>();
const Resource kNodes = Resource::Of<core::v1::Node>();
const Resource kRoles = Resource::Of<rbac::v1::ClusterRole>();

TEST(RequestsTest, BuildsTargets) {
  const GetOptions get{.resource_version = "0"};
  const WriteOptions write{
      .dry_run = true, .field_manager = "me & you", .field_validation = FieldValidation::kStrict};
  const ApplyOptions apply{.field_manager = "m", .force = true, .dry_run = true};
  const DeleteOptions remove{.dry_run = true};
  ListOptions which;
  which.labels = *labels::Selector::Parse("app in (a,b),!x");
  which.fields = *fields::Selector::Parse("spec.nodeName=n1");
  struct Case {
    Operation operation;
    std::string_view target;
  };
  const Case cases[] = {
      {{.verb = Verb::kGet, .resource = kPods, .key = {"ns", "a"}, .get = &get},
       "/api/v1/namespaces/ns/pods/a?resourceVersion=0"},
      {{.verb = Verb::kGet, .resource = kNodes, .key = {"", "n"}}, "/api/v1/nodes/n"},
      {{.verb = Verb::kGet, .resource = kNodes, .key = {"ignored", "n"}}, "/api/v1/nodes/n"},
      {{.verb = Verb::kGet, .resource = kRoles, .key = {"", "system:node"}},
       "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node"},
      {{.verb = Verb::kGet, .resource = kRoles, .key = {"", "a b+c&d=e#f?g"}},
       "/apis/rbac.authorization.k8s.io/v1/clusterroles/a%20b%2Bc%26d%3De%23f%3Fg"},
      {{.verb = Verb::kCreate, .resource = kPods, .key = {"ns", ""}, .write = &write},
       "/api/v1/namespaces/ns/pods?dryRun=All&fieldManager=me%20%26%20you&fieldValidation=Strict"},
      {{.verb = Verb::kCreate, .resource = kPods, .key = {"ns", "a"}, .subresource = "eviction"},
       "/api/v1/namespaces/ns/pods/a/eviction"},
      {{.verb = Verb::kUpdate, .resource = kPods, .key = {"ns", "a"}, .subresource = "status"},
       "/api/v1/namespaces/ns/pods/a/status"},
      {{.verb = Verb::kApply, .resource = kPods, .key = {"ns", "a"}, .apply = &apply},
       "/api/v1/namespaces/ns/pods/a?dryRun=All&fieldManager=m&force=true"},
      {{.verb = Verb::kDelete, .resource = kPods, .key = {"ns", "a"}, .remove = &remove},
       "/api/v1/namespaces/ns/pods/a"},
      {{.verb = Verb::kDeleteAll, .resource = kPods, .key = {"ns", ""}, .list = &which},
       "/api/v1/namespaces/ns/pods?labelSelector=app%20in%20(a,b),!x&"
       "fieldSelector=spec.nodeName%3Dn1"},
  };
  for (const Case& c : cases) {
    const Result<std::string> target = TargetOf(c.operation);
    ASSERT_TRUE(target.ok()) << target.status().ToString();
    EXPECT_EQ(*target, c.target);
  }
}

TEST(RequestsTest, RejectsOperationsThatCouldReachAnotherPath) {
  const ApplyOptions nobody;
  const Operation operations[] = {
      {.verb = Verb::kDelete, .resource = kPods, .key = {"ns", ""}},  // would delete the collection
      {.verb = Verb::kDelete, .resource = kNodes, .key = {"", ""}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"", "a"}},
      {.verb = Verb::kCreate, .resource = kPods, .key = {"", "a"}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"ns", ".."}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"ns", "."}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"ns", "a/b"}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"ns", "a%2fb"}},
      {.verb = Verb::kGet, .resource = kPods, .key = {"../x", "a"}},
      {.verb = Verb::kDeleteAll, .resource = kPods, .key = {"a/b", ""}},
      {.verb = Verb::kApply, .resource = kPods, .key = {"ns", "a"}, .apply = &nobody},
      {.verb = Verb::kApply, .resource = kPods, .key = {"ns", "a"}},
  };
  for (const Operation& operation : operations) {
    EXPECT_TRUE(TargetOf(operation).status().Is(Reason::kBadRequest)) << operation.key.ToString();
  }
}

TEST(RequestsTest, ListTargetsContainSelectorsAndLimits) {
  EXPECT_EQ(ListTarget(kPods, {}, ""), "/api/v1/pods");
  const ListOptions options{.ns = "ns",
                            .page_size = 500,
                            .resource_version = "7",
                            .resource_version_match = "NotOlderThan"};
  EXPECT_EQ(ListTarget(kPods, options, ""),
            "/api/v1/namespaces/ns/pods?limit=500&resourceVersion=7&"
            "resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(ListTarget(kPods, options, "a=b"),
            "/api/v1/namespaces/ns/pods?limit=500&continue=a%3Db")
      << "the token holds the version; the server refuses both";
}

TEST(RequestsTest, WatchTargetsContainTheirOptions) {
  EXPECT_EQ(WatchTarget(kPods, {.list = {.resource_version = "7"}}),
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7");
  EXPECT_EQ(WatchTarget(kPods, {.bookmarks = false}), "/api/v1/pods?watch=true");
  EXPECT_EQ(WatchTarget(kPods, {.bookmarks = false,
                                .send_initial_events = true,
                                .timeout = std::chrono::seconds(300)}),
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&"
            "resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
}

TEST(RequestsTest, DefaultDeleteOptionsAreNotSent) {
  const auto body = [](const DeleteOptions& options) {
    return BodyOf({.verb = Verb::kDelete, .resource = kPods, .remove = &options},
                  Format::kProtobuf);
  };
  EXPECT_EQ(body({}).text, "");
  EXPECT_EQ(body({}).content_type, "");
  EXPECT_EQ(body({.grace_period = std::chrono::seconds(5),
                  .propagation = Propagation::kForeground,
                  .uid = "u",
                  .resource_version = "7",
                  .dry_run = true})
                .text,
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,)"
            R"("preconditions":{"uid":"u","resourceVersion":"7"},)"
            R"("propagationPolicy":"Foreground","dryRun":["All"]})");
}

}  // namespace
}  // namespace cox::sdk
