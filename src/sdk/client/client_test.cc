// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"

#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "base/testing/test_clock.h"
#include "object/codec.h"
#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"
#include "sdk/testing/fake_transport.h"

namespace cox {
namespace {

using core::v1::ConfigMap;
using sdk::FakeResponse;
using sdk::FakeTransport;

class ClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> Over(FakeTransport::Answer answer, Config config = {}) {
    transport_ = std::make_shared<FakeTransport>(std::move(answer));
    config.user_agent = "test/1";
    return MakeClient(transport_, config);
  }
  std::unique_ptr<Client> Always(FakeResponse answer, Config config = {}) {
    return Over([answer](const net::Request&) { return answer; }, std::move(config));
  }
  static FakeResponse Protobuf(const Object& object, int status = 200) {
    FakeResponse answer{.status = status,
                        .headers = {{"content-type", "application/vnd.kubernetes.protobuf"}}};
    EncodeObject(object, Format::kProtobuf, &answer.chunks.emplace_back());
    return answer;
  }
  static Object WebMap() {
    return Object::Of(
        ConfigMap{.metadata = {.name = "web", .namespace_ = "default", .resourceVersion = "7"},
                  .data = {{"a", "1"}}});
  }
  net::Request last() const { return transport_->last(); }
  std::string LastHeader(std::string_view name) const {
    const net::Request request = last();
    return std::string(request.headers.Get(name).value_or("<none>"));
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<FakeTransport> transport_;
};

constexpr std::string_view kWebJson =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web","namespace":"default",)"
    R"("resourceVersion":"7"},"data":{"a":"1"}})";

TEST_F(ClientTest, BuiltInKindsUseProtobuf) {
  auto client = Always(Protobuf(WebMap()));
  const Result<ConfigMap> got = client->Get<ConfigMap>(ctx_, {"default", "web"});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(got->data.find("a")->second, "1");
  EXPECT_EQ(last().method, "GET");
  EXPECT_EQ(last().target, "/api/v1/namespaces/default/configmaps/web");
  EXPECT_EQ(LastHeader("accept"), "application/vnd.kubernetes.protobuf,application/json");
  EXPECT_EQ(LastHeader("user-agent"), "test/1");

  ASSERT_TRUE(client->Update(ctx_, *got).ok());
  EXPECT_EQ(last().method, "PUT");
  EXPECT_EQ(LastHeader("content-type"), "application/vnd.kubernetes.protobuf");
  EXPECT_TRUE(proto::HasEnvelope(last().body));
}

TEST_F(ClientTest, DecoratorHeadersAreSent) {
  auto client = Always(Protobuf(WebMap()));
  const Resource maps = Resource::Of<ConfigMap>();
  const Patch patch = Patch::Merge("{}");
  ASSERT_TRUE(client
                  ->Execute(ctx_, {.verb = Operation::Verb::kPatch,
                                   .resource = maps,
                                   .key = {"default", "web"},
                                   .patch = &patch,
                                   .headers = {{"coxswain-fencing", "ns/a;b;1"}}})
                  .ok());
  EXPECT_EQ(LastHeader("coxswain-fencing"), "ns/a;b;1");
}

TEST_F(ClientTest, UsesJsonIfProtobufIsNotPreferred) {
  auto client = Always(FakeResponse::Json(std::string(kWebJson)), {.prefer_protobuf = false});
  const Result<ConfigMap> got = client->Get<ConfigMap>(ctx_, {"default", "web"});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(LastHeader("accept"), "application/json");
  ASSERT_TRUE(client->Create(ctx_, *got).ok());
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "/api/v1/namespaces/default/configmaps");
  EXPECT_EQ(LastHeader("content-type"), "application/json");
  EXPECT_EQ(last().body, std::string(kWebJson) + "\n");
}

TEST_F(ClientTest, FallsBackToJsonOncePerResource) {
  for (const int code : {406, 415}) {
    auto client = Over([&](const net::Request& request) {
      const bool json = request.headers.Get("accept") == "application/json";
      return json ? FakeResponse::Json(std::string(kWebJson)) : FakeResponse::Json("no", code);
    });
    ASSERT_TRUE(client->Get<ConfigMap>(ctx_, {"default", "web"}).ok());
    EXPECT_EQ(transport_->requests().size(), 2u);
    const Result<ConfigMap> written = client->Create(ctx_, *WebMap().As<ConfigMap>());
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(transport_->requests().size(), 3u) << "remembered";
    EXPECT_EQ(LastHeader("content-type"), "application/json");
    // Other resources may be served by another server.
    (void)client->Get<core::v1::Pod>(ctx_, {"default", "web"});
    EXPECT_EQ(transport_->requests().size(), 5u);
  }
}

TEST_F(ClientTest, DynamicKindsAreValues) {
  const Resource backups = Resource::Dynamic({"example.com", "v1", "Backup"}, "backups", true);
  auto client = Always(FakeResponse::Json(
      R"({"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"b"},"spec":{"x":1}})"));
  const Result<Object> got = client->Get(ctx_, backups, {"ns", "b"});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(last().target, "/apis/example.com/v1/namespaces/ns/backups/b");
  EXPECT_EQ(LastHeader("accept"), "application/json");
  ASSERT_FALSE(got->is_typed());
  EXPECT_EQ(got->value().At({"spec", "x"})->as_int(), 1);

  // An object without kind and apiVersion gets them from its gvk.
  const Object nameless(
      backups.gvk, types::kAny,
      Value::MakeObject({{"metadata", Value::MakeObject({{"name", "b"}, {"namespace", "ns"}})}}));
  ASSERT_TRUE(client->Create(ctx_, backups, nameless).ok());
  EXPECT_EQ(last().body, R"({"apiVersion":"example.com/v1","kind":"Backup",)"
                         R"("metadata":{"name":"b","namespace":"ns"}})");
}

TEST_F(ClientTest, CustomStructsUseJson) {
  // Even if the type has protobuf tables.
  static const KindInfo kBackup = {.group = "example.com",
                                   .version = "v1",
                                   .kind = "Backup",
                                   .type = &ConfigMap::kType,
                                   .plural = "backups",
                                   .namespaced = true};
  auto client = Always(FakeResponse::Json(
      R"({"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"b"},"data":{"a":"1"}})"));
  const Resource backups = Resource::FromKind(kBackup);
  const Result<Object> got = client->Get(ctx_, backups, {"ns", "b"});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(LastHeader("accept"), "application/json");
  ASSERT_NE(got->As<ConfigMap>(), nullptr);
  Object changed = *got;
  changed.object_meta()->namespace_ = "ns";
  ASSERT_TRUE(client->Update(ctx_, backups, changed).ok());
  EXPECT_EQ(LastHeader("content-type"), "application/json");
  EXPECT_TRUE(last().body.starts_with(R"({"kind":"Backup","apiVersion":"example.com/v1",)"));
}

TEST_F(ClientTest, ConfiguredTimeoutCancelsRequests) {
  auto client = Over(
      [&](const net::Request&) {
        clock_.Advance(std::chrono::seconds(6));
        return FakeResponse{.chunks = {"k8s"}, .hold = true};
      },
      {.timeout = std::chrono::seconds(5)});
  EXPECT_EQ(client->List<ConfigMap>(ctx_).status(), Context::DeadlineExceeded());
}

TEST_F(ClientTest, ReturnsTheServersStatus) {
  auto client = Always(
      FakeResponse::Json(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                         R"("message":"configmaps \"web\" not found","reason":"NotFound",)"
                         R"("details":{"name":"web","kind":"configmaps"},"code":404})",
                         404));
  const Status status = client->Get<ConfigMap>(ctx_, {"default", "web"}).status();
  EXPECT_TRUE(status.Is(Reason::kNotFound));
  EXPECT_EQ(status.message(), "configmaps \"web\" not found");
  EXPECT_EQ(status.details().name, "web");
  EXPECT_EQ(transport_->requests().size(), 1u);
}

TEST_F(ClientTest, ResponseOfAnotherKindIsAnError) {
  auto client = Always(FakeResponse::Json(R"({"kind":"Secret","apiVersion":"v1"})"));
  EXPECT_TRUE(client->Get<ConfigMap>(ctx_, {"default", "web"}).status().Is(Reason::kInternalError));
  client = Always(FakeResponse::Json("{\"kind\":"));
  EXPECT_TRUE(client->Get<ConfigMap>(ctx_, {"default", "web"}).status().Is(Reason::kInternalError));
  client = Always(FakeResponse::Json(""));
  EXPECT_TRUE(client->Get<ConfigMap>(ctx_, {"default", "web"}).status().Is(Reason::kInternalError));
}

TEST_F(ClientTest, DeleteReturnsTheObjectOrAStatus) {
  auto client = Always(Protobuf(WebMap()));
  const Resource maps = Resource::Of<ConfigMap>();
  Result<Object> deleted = client->Delete(ctx_, maps, {"default", "web"});
  ASSERT_TRUE(deleted.ok());
  EXPECT_NE(deleted->As<ConfigMap>(), nullptr);
  EXPECT_EQ(last().method, "DELETE");
  EXPECT_EQ(last().body, "");

  client = Always(
      FakeResponse::Json(R"({"kind":"Status","apiVersion":"v1","status":"Success","code":200})"));
  deleted = client->Delete(ctx_, maps, {"default", "web"},
                           {.grace_period = std::chrono::seconds(0), .uid = "u"});
  ASSERT_TRUE(deleted.ok());
  EXPECT_NE(deleted->As<meta::v1::Status>(), nullptr);
  EXPECT_EQ(last().body, R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,)"
                         R"("preconditions":{"uid":"u"}})");
  EXPECT_TRUE(client->Delete<ConfigMap>(ctx_, {"default", "web"}).ok());
}

TEST_F(ClientTest, PatchesSendTheirContentType) {
  auto client = Always(Protobuf(WebMap()));
  ASSERT_TRUE(client->PatchStatus<ConfigMap>(ctx_, {"default", "web"}, Patch::Merge("{}")).ok());
  EXPECT_EQ(last().method, "PATCH");
  EXPECT_EQ(last().target, "/api/v1/namespaces/default/configmaps/web/status");
  EXPECT_EQ(LastHeader("content-type"), "application/merge-patch+json");

  const ApplyConfiguration<ConfigMap> apply{
      {.metadata = {.name = "web", .namespace_ = "default"}, .data = {{"a", ""}}}};
  ASSERT_TRUE(client->Apply(ctx_, apply, {.field_manager = "me", .force = true}).ok());
  EXPECT_EQ(last().target, "/api/v1/namespaces/default/configmaps/web?fieldManager=me&force=true");
  EXPECT_EQ(LastHeader("content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(last().body, R"({"apiVersion":"v1","data":{"a":""},"kind":"ConfigMap",)"
                         R"("metadata":{"name":"web","namespace":"default"}})");
  EXPECT_TRUE(client->Apply(ctx_, apply, {}).status().Is(Reason::kBadRequest));
}

}  // namespace
}  // namespace cox
