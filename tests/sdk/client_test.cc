// SPDX-License-Identifier: Apache-2.0
// The client with the real API server: in process and over HTTPS, with protobuf and JSON.
#include "coxswain/client.h"

#include <gtest/gtest.h>

#include <set>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "coxswain/subresources.h"
#include "object/codec/json/json.h"
#include "testkit/test_cluster.h"

namespace cox {
namespace {

using apps::v1::Deployment;
using core::v1::ConfigMap;
using core::v1::Pod;

// The connection of the client to the server.
enum class Way : uint8_t { kInProcess, kInProcessJson, kHttps };

// Calls `before` once, before the second page of a list is requested.
class Forgetful final : public Transport {
 public:
  Forgetful(Transport& inner, std::function<void()> before)
      : inner_(inner), before_(std::move(before)) {}
  Result<net::Response> Do(Context& ctx, net::Request request) override {
    return inner_.Do(ctx, std::move(request));
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    if (request.target.find("continue=") != std::string::npos) {
      if (const auto before = std::exchange(before_, nullptr)) before();
    }
    return inner_.Start(ctx, std::move(request));
  }

 private:
  Transport& inner_;
  std::function<void()> before_;
};

class ClientTest : public testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() {
    auto started = testkit::TestCluster::Start({.https = true});
    ASSERT_TRUE(started.ok()) << started.status().ToString();
    cluster_ = started->release();
  }
  static void TearDownTestSuite() {
    std::unique_ptr<testkit::TestCluster> last(cluster_);
    cluster_ = nullptr;
  }

  void SetUp() override {
    Config config = cluster_->config();
    config.user_agent = "client-test/1";
    switch (GetParam()) {
      case Way::kInProcessJson:
        config.prefer_protobuf = false;
        [[fallthrough]];
      case Way::kInProcess:
        client_ = MakeClient(cluster_->transport(), config);
        break;
      case Way::kHttps: {
        auto connected = Connect(ctx(), config);
        ASSERT_TRUE(connected.ok()) << connected.status().ToString();
        client_ = std::move(*connected);
        break;
      }
    }
    static int number = 0;
    ns_ = "test-" + std::to_string(++number);
    ASSERT_TRUE(client_->Create(ctx(), core::v1::Namespace{.metadata = {.name = ns_}}).ok());
  }

  Context& ctx() { return cluster_->context(); }
  ConfigMap Map(std::string name, std::string value = "1") const {
    return {.metadata = {.name = std::move(name), .namespace_ = ns_, .labels = {{"app", "web"}}},
            .data = {{"key", std::move(value)}}};
  }
  Deployment Web() const {
    Deployment web{.metadata = {.name = "web", .namespace_ = ns_}};
    web.spec.replicas = 2;
    web.spec.selector.emplace().matchLabels["app"] = "web";
    web.spec.template_.metadata.labels["app"] = "web";
    web.spec.template_.spec.containers.push_back({.name = "c", .image = "nginx"});
    return web;
  }

  static testkit::TestCluster* cluster_;
  std::unique_ptr<Client> client_;
  std::string ns_;
};

testkit::TestCluster* ClientTest::cluster_ = nullptr;

TEST_P(ClientTest, CreatesReadsUpdatesAndDeletes) {
  const Result<ConfigMap> created = client_->Create(ctx(), Map("a"));
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  EXPECT_FALSE(created->metadata.uid.empty());
  EXPECT_TRUE(client_->Create(ctx(), Map("a")).status().Is(Reason::kAlreadyExists));

  Result<ConfigMap> got = client_->Get<ConfigMap>(ctx(), {ns_, "a"});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(json::Encode(*got), json::Encode(*created));

  got->data["key"] = "2";
  const Result<ConfigMap> updated = client_->Update(ctx(), *got);
  ASSERT_TRUE(updated.ok()) << updated.status().ToString();
  EXPECT_NE(updated->metadata.resourceVersion, got->metadata.resourceVersion);
  EXPECT_TRUE(client_->Update(ctx(), *got).status().Is(Reason::kConflict));

  const Result<ConfigMap> changed =
      ChangeObject<ConfigMap>(ctx(), *client_, {ns_, "a"}, [](ConfigMap& map) -> Result<bool> {
        map.data["other"] = "x";
        return true;
      });
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->data.size(), 2u);

  EXPECT_TRUE(
      client_->Delete<ConfigMap>(ctx(), {ns_, "a"}, {.uid = "another"}).Is(Reason::kConflict));
  EXPECT_TRUE(client_->Delete<ConfigMap>(ctx(), {ns_, "a"}).ok());
  const Status gone = client_->Get<ConfigMap>(ctx(), {ns_, "a"}).status();
  EXPECT_TRUE(gone.Is(Reason::kNotFound));
  EXPECT_EQ(gone.message(), "configmaps \"a\" not found");
  EXPECT_EQ(gone.details().kind, "configmaps");
}

TEST_P(ClientTest, DryRunChangesNothing) {
  ASSERT_TRUE(client_->Create(ctx(), Map("a"), {.dry_run = true}).ok());
  EXPECT_TRUE(client_->Get<ConfigMap>(ctx(), {ns_, "a"}).status().Is(Reason::kNotFound));
  ASSERT_TRUE(client_->Create(ctx(), Map("a")).ok());
  EXPECT_TRUE(client_->Delete<ConfigMap>(ctx(), {ns_, "a"}, {.dry_run = true}).ok());
  EXPECT_TRUE(client_->Get<ConfigMap>(ctx(), {ns_, "a"}).ok());
}

TEST_P(ClientTest, ValidationErrorsContainTheirFields) {
  Deployment web = Web();
  web.spec.template_.spec.containers.front().name = "Not A Name";
  const Status status = client_->Create(ctx(), web).status();
  ASSERT_TRUE(status.Is(Reason::kInvalid)) << status.ToString();
  EXPECT_EQ(status.details().kind, "Deployment");
  ASSERT_FALSE(status.details().causes.empty());
  EXPECT_EQ(status.details().causes.front().field, "spec.template.spec.containers[0].name");
}

TEST_P(ClientTest, FieldValidationIsDoneByTheServer) {
  const Resource maps = Resource::Dynamic({"", "v1", "ConfigMap"}, "configmaps", true);
  const Object strange(
      maps.gvk, types::kAny,
      Value::MakeObject(
          {{"metadata", Value::MakeObject({{"name", "s"}, {"namespace", ns_}})}, {"nonsense", 1}}));
  EXPECT_TRUE(client_->Create(ctx(), maps, strange, {.field_validation = FieldValidation::kStrict})
                  .status()
                  .Is(Reason::kBadRequest));
  EXPECT_TRUE(
      client_->Create(ctx(), maps, strange, {.field_validation = FieldValidation::kWarn}).ok());
}

TEST_P(ClientTest, SupportsAllPatchTypes) {
  const Result<ConfigMap> before = client_->Create(ctx(), Map("a"));
  ASSERT_TRUE(before.ok());
  const ObjectKey key{ns_, "a"};
  Result<ConfigMap> got =
      client_->PatchObject<ConfigMap>(ctx(), key, Patch::Merge(R"({"data":{"m":"1"}})"));
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(got->data.find("m")->second, "1");
  got = client_->PatchObject<ConfigMap>(ctx(), key, Patch::Strategic(R"({"data":{"m":null}})"));
  ASSERT_TRUE(got.ok());
  EXPECT_FALSE(got->data.contains("m"));
  got = client_->PatchObject<ConfigMap>(
      ctx(), key, Patch::Json(R"([{"op":"add","path":"/data/j","value":"2"}])"));
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->data.find("j")->second, "2");

  // The difference, with the resource version as precondition.
  ConfigMap after = *got;
  after.data["j"] = "3";
  EXPECT_TRUE(client_->PatchObject<ConfigMap>(ctx(), key, Patch::Between(*got, after, true)).ok());
  EXPECT_TRUE(client_->PatchObject<ConfigMap>(ctx(), key, Patch::Between(*got, after, true))
                  .status()
                  .Is(Reason::kConflict));
}

TEST_P(ClientTest, StatusIsSeparateFromSpec) {
  ASSERT_TRUE(client_->Create(ctx(), Web()).ok());
  Result<Deployment> web = client_->Get<Deployment>(ctx(), {ns_, "web"});
  ASSERT_TRUE(web.ok());
  Deployment changed = *web;
  changed.status.replicas = 7;
  changed.spec.replicas = 9;
  web = client_->PatchStatus<Deployment>(ctx(), {ns_, "web"}, Patch::Between(*web, changed));
  ASSERT_TRUE(web.ok()) << web.status().ToString();
  EXPECT_EQ(web->status.replicas, 7);
  EXPECT_EQ(web->spec.replicas, 2);
  web->status.replicas = 8;
  web = client_->UpdateStatus(ctx(), *web);
  ASSERT_TRUE(web.ok());
  EXPECT_EQ(web->status.replicas, 8);
}

TEST_P(ClientTest, ApplyOwnsFieldsAndReportsConflicts) {
  ApplyConfiguration<Deployment> mine{Web()};
  Result<Deployment> applied = client_->Apply(ctx(), mine, {.field_manager = "mine"});
  ASSERT_TRUE(applied.ok()) << applied.status().ToString();
  EXPECT_EQ(applied->metadata.managedFields.front().manager, "mine");

  ApplyConfiguration<Deployment> other{{.metadata = {.name = "web", .namespace_ = ns_}}};
  other.object().spec.replicas = 5;
  const Status conflict = client_->Apply(ctx(), other, {.field_manager = "other"}).status();
  ASSERT_TRUE(conflict.Is(Reason::kConflict)) << conflict.ToString();
  ASSERT_FALSE(conflict.details().causes.empty());
  EXPECT_EQ(conflict.details().causes.front().type, "FieldManagerConflict");
  EXPECT_EQ(conflict.details().causes.front().field, ".spec.replicas");
  applied = client_->Apply(ctx(), other, {.field_manager = "other", .force = true});
  ASSERT_TRUE(applied.ok());
  EXPECT_EQ(applied->spec.replicas, 5);
  ASSERT_EQ(applied->spec.template_.spec.containers.size(), 1u) << "what mine owns stays";

  // A zero field is owned if it is specified explicitly.
  other.Also(&Deployment::spec, &apps::v1::DeploymentSpec::paused);
  applied = client_->Apply(ctx(), other, {.field_manager = "other"});
  ASSERT_TRUE(applied.ok());
  std::string fields;
  for (const meta::v1::ManagedFieldsEntry& entry : applied->metadata.managedFields) {
    if (entry.manager == "other") fields = entry.fieldsV1 ? entry.fieldsV1->raw : "";
  }
  EXPECT_NE(fields.find("f:paused"), std::string::npos) << fields;
}

TEST_P(ClientTest, FieldManagerIsDerivedFromUserAgent) {
  const Result<ConfigMap> created = client_->Create(ctx(), Map("a"));
  ASSERT_TRUE(created.ok());
  ASSERT_FALSE(created->metadata.managedFields.empty());
  EXPECT_EQ(created->metadata.managedFields.front().manager, "client-test");
}

TEST_P(ClientTest, ListsThousandObjectsInPages) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(client_->Create(ctx(), Map("m" + std::to_string(i))).ok());
  }
  for (const int64_t page : {0, 300, 1000}) {
    const Result<ObjectList<ConfigMap>> list =
        client_->List<ConfigMap>(ctx(), {.ns = ns_, .page_size = page});
    ASSERT_TRUE(list.ok()) << list.status().ToString();
    std::set<std::string> names;
    for (const ConfigMap& map : list->items) names.insert(map.metadata.name);
    EXPECT_EQ(list->items.size(), 1000u);
    EXPECT_EQ(names.size(), 1000u);
    EXPECT_FALSE(list->resource_version.empty());
  }
  ListOptions some{.ns = ns_};
  some.fields = fields::Selector::OneTermEqual("metadata.name", "m7");
  EXPECT_EQ(client_->List<ConfigMap>(ctx(), some)->items.size(), 1u);
  some.fields = {};
  some.labels = *labels::Selector::Parse("app!=web");
  EXPECT_EQ(client_->List<ConfigMap>(ctx(), some)->items.size(), 0u);

  some.labels = *labels::Selector::Parse("app=web");
  ASSERT_TRUE(client_->DeleteAll<ConfigMap>(ctx(), some).ok());
  EXPECT_EQ(client_->List<ConfigMap>(ctx(), {.ns = ns_})->items.size(), 0u);
}

TEST_P(ClientTest, PagedListRestartsWhenVersionIsCompacted) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(client_->Create(ctx(), Map("m" + std::to_string(i))).ok());
  }
  const auto forgetful = std::make_shared<Forgetful>(client_->transport(), [&] {
    EXPECT_TRUE(client_->Create(ctx(), Map("new")).ok());
    EXPECT_TRUE(cluster_->CompactHistory().ok());
  });
  const std::unique_ptr<Client> lister = MakeClient(forgetful);
  int given = 0, restarts = 0;
  ListOptions options{.ns = ns_, .page_size = 2};
  options.on_restart = [&] {
    ++restarts;
    given = 0;
  };
  const Result<std::string> version =
      lister->ListEach(ctx(), Resource::Of<ConfigMap>(), options, [&](const Object&) {
        ++given;
        return Status();
      });
  ASSERT_TRUE(version.ok()) << version.status().ToString();
  EXPECT_EQ(restarts, 1);
  EXPECT_EQ(given, 6);
}

TEST_P(ClientTest, WatchStartsWithInitialEvents) {
  ASSERT_TRUE(client_->Create(ctx(), Map("a")).ok());
  Context ctx = this->ctx().WithTimeout(std::chrono::seconds(60));
  const Resource maps = Resource::Of<ConfigMap>();
  Result<std::unique_ptr<WatchStream>> watch =
      client_->Watch(ctx, maps, {.list = {.ns = ns_}, .send_initial_events = true});
  ASSERT_TRUE(watch.ok()) << watch.status().ToString();
  Result<WatchEvent<Object>> event = (*watch)->Next(ctx);
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  EXPECT_EQ(event->type, EventType::kAdded);
  EXPECT_EQ(event->object->As<ConfigMap>()->metadata.name, "a");
  event = (*watch)->Next(ctx);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->type, EventType::kBookmark);
  EXPECT_TRUE(event->initial_events_end);
  EXPECT_EQ(event->object, nullptr);
  const std::string from = event->resource_version;

  ASSERT_TRUE(client_->Update(ctx, Map("a", "2")).ok());
  event = (*watch)->Next(ctx);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->type, EventType::kModified);
  EXPECT_EQ(event->object->As<ConfigMap>()->data.find("key")->second, "2");
  ASSERT_TRUE(client_->Delete<ConfigMap>(ctx, {ns_, "a"}).ok());
  event = (*watch)->Next(ctx);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->type, EventType::kDeleted);
  EXPECT_GT(std::stoll(event->resource_version), std::stoll(from));

  // From a resource version: the events after it, and an end at the requested timeout.
  watch = client_->Watch(
      ctx, maps,
      {.list = {.ns = ns_, .resource_version = from}, .timeout = std::chrono::seconds(1)});
  ASSERT_TRUE(watch.ok());
  EXPECT_EQ((*watch)->Next(ctx)->type, EventType::kModified);
  EXPECT_EQ((*watch)->Next(ctx)->type, EventType::kDeleted);
  for (event = (*watch)->Next(ctx); event.ok(); event = (*watch)->Next(ctx)) {
    EXPECT_EQ(event->type, EventType::kBookmark);
  }
  EXPECT_TRUE(IsEndOfWatch(event.status())) << event.status().ToString();
}

TEST_P(ClientTest, WatchFromCompactedVersionIsExpired) {
  const Result<ConfigMap> first = client_->Create(ctx(), Map("a"));
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(client_->Create(ctx(), Map("b")).ok());
  ASSERT_TRUE(cluster_->CompactHistory().ok());
  ASSERT_TRUE(client_->Create(ctx(), Map("c")).ok());
  Context ctx = this->ctx().WithTimeout(std::chrono::seconds(60));
  Result<std::unique_ptr<WatchStream>> watch =
      client_->Watch(ctx, Resource::Of<ConfigMap>(),
                     {.list = {.ns = ns_, .resource_version = first->metadata.resourceVersion}});
  const Status status = watch.ok() ? (*watch)->Next(ctx).status() : watch.status();
  EXPECT_TRUE(status.Is(Reason::kExpired)) << status.ToString();
}

TEST_P(ClientTest, ListsAndWatchesMetadata) {
  ASSERT_TRUE(client_->Create(ctx(), Map("a")).ok());
  const Resource maps = Resource::Of<ConfigMap>();
  int seen = 0;
  const Result<std::string> version =
      client_->ListMetadata(ctx(), maps, {.ns = ns_}, [&](const Object& object) {
        const auto* partial = object.As<meta::v1::PartialObjectMetadata>();
        EXPECT_NE(partial, nullptr);
        if (partial != nullptr) {
          EXPECT_EQ(partial->metadata.labels.find("app")->second, "web");
        }
        ++seen;
        return Status();
      });
  ASSERT_TRUE(version.ok()) << version.status().ToString();
  EXPECT_EQ(seen, 1);
  Context ctx = this->ctx().WithTimeout(std::chrono::seconds(60));
  Result<std::unique_ptr<WatchStream>> watch =
      client_->WatchMetadata(ctx, maps, {.list = {.ns = ns_, .resource_version = *version}});
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE(client_->Create(ctx, Map("b")).ok());
  const Result<WatchEvent<Object>> event = (*watch)->Next(ctx);
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  EXPECT_EQ(event->object->As<meta::v1::PartialObjectMetadata>()->metadata.name, "b");
}

TEST_P(ClientTest, DiscoversKindsByName) {
  const Result<Resource> deployments = client_->Discover(ctx(), {"apps", "v1", "Deployment"});
  ASSERT_TRUE(deployments.ok()) << deployments.status().ToString();
  EXPECT_EQ(deployments->plural, "deployments");
  EXPECT_TRUE(deployments->namespaced);
  const Result<Resource> nodes = client_->Discover(ctx(), {"", "v1", "Node"});
  ASSERT_TRUE(nodes.ok());
  EXPECT_FALSE(nodes->namespaced);
  EXPECT_TRUE(client_->Discover(ctx(), {"apps", "v1", "Nothing"}).status().Is(Reason::kNotFound));

  ASSERT_TRUE(client_->Create(ctx(), Web()).ok());
  Result<Object> web = client_->Get(ctx(), *deployments, {ns_, "web"});
  ASSERT_TRUE(web.ok());
  ASSERT_FALSE(web->is_typed());
  web->value().as_object()["spec"].as_object()["replicas"] = 4;
  web = client_->Update(ctx(), *deployments, *web);
  ASSERT_TRUE(web.ok()) << web.status().ToString();
  EXPECT_EQ(web->value().At({"spec", "replicas"})->as_int(), 4);
  int seen = 0;
  ASSERT_TRUE(client_
                  ->ListEach(ctx(), *deployments, {.ns = ns_},
                             [&](const Object& object) {
                               EXPECT_EQ(HeadOf(object).key.name, "web");
                               ++seen;
                               return Status();
                             })
                  .ok());
  EXPECT_EQ(seen, 1);
  Value apply =
      *json::Parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",)"
                   R"("namespace":")" +
                   ns_ + R"(","labels":{"a":"b"}}})");
  ASSERT_TRUE(client_->Apply(ctx(), *deployments, apply, {.field_manager = "m"}).ok());
  ASSERT_TRUE(client_->Delete(ctx(), *deployments, {ns_, "web"}).ok());
}

TEST_P(ClientTest, SupportsSubresources) {
  ASSERT_TRUE(client_->Create(ctx(), Web()).ok());
  Result<autoscaling::v1::Scale> scale = GetScale<Deployment>(ctx(), *client_, {ns_, "web"});
  ASSERT_TRUE(scale.ok()) << scale.status().ToString();
  EXPECT_EQ(scale->spec.replicas, 2);
  scale->spec.replicas = 6;
  scale = UpdateScale<Deployment>(ctx(), *client_, *scale);
  ASSERT_TRUE(scale.ok()) << scale.status().ToString();
  EXPECT_EQ(client_->Get<Deployment>(ctx(), {ns_, "web"})->spec.replicas, 6);

  Pod pod{.metadata = {.name = "p", .namespace_ = ns_}};
  pod.spec.containers.push_back({.name = "c", .image = "nginx"});
  ASSERT_TRUE(client_->Create(ctx(), pod).ok());
  const Status bound = Bind(ctx(), *client_, {ns_, "p"}, "node-1");
  ASSERT_TRUE(bound.ok()) << bound.ToString();
  EXPECT_EQ(client_->Get<Pod>(ctx(), {ns_, "p"})->spec.nodeName, "node-1");
  EXPECT_TRUE(Bind(ctx(), *client_, {ns_, "p"}, "node-2").Is(Reason::kConflict));
  const Status evicted =
      Evict(ctx(), *client_, {ns_, "p"}, {.grace_period = std::chrono::seconds(0)});
  EXPECT_TRUE(evicted.ok()) << evicted.ToString();
  EXPECT_TRUE(client_->Get<Pod>(ctx(), {ns_, "p"}).status().Is(Reason::kNotFound));
  EXPECT_TRUE(Evict(ctx(), *client_, {ns_, "p"}).Is(Reason::kNotFound));

  ASSERT_TRUE(
      client_
          ->Create(ctx(), core::v1::ServiceAccount{.metadata = {.name = "sa", .namespace_ = ns_}})
          .ok());
  const Result<authentication::v1::TokenRequest> token =
      CreateToken(ctx(), *client_, {ns_, "sa"}, {});
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  EXPECT_FALSE(token->status.token.empty());
}

INSTANTIATE_TEST_SUITE_P(All, ClientTest,
                         testing::Values(Way::kInProcess, Way::kInProcessJson, Way::kHttps),
                         [](const auto& info) {
                           switch (info.param) {
                             case Way::kInProcess:
                               return "InProcess";
                             case Way::kInProcessJson:
                               return "InProcessJson";
                             case Way::kHttps:
                               break;
                           }
                           return "Https";
                         });

}  // namespace
}  // namespace cox
