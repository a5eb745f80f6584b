// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/core/v1.h"
#include "base/scope.h"
#include "base/testing/test_clock.h"
#include "coxswain/client.h"
#include "object/codec.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

using core::v1::ConfigMap;

class StreamTest : public testing::Test {
 protected:
  Client& Over(FakeTransport::Answer answer, Config config = {}) {
    transport_ = std::make_shared<FakeTransport>(std::move(answer));
    client_ = MakeClient(transport_, config);
    return *client_;
  }
  Client& Script(std::vector<FakeResponse> answers) {
    transport_ = std::make_shared<FakeTransport>(std::move(answers));
    client_ = MakeClient(transport_);
    return *client_;
  }
  static std::string Page(const std::vector<std::string>& names, const std::string& more) {
    core::v1::ConfigMapList list;
    list.metadata.resourceVersion = "42";
    list.metadata.continue_ = more;
    for (const std::string& name : names) list.items.push_back({.metadata = {.name = name}});
    std::string bytes;
    EncodeObject(Object::Of(std::move(list)), Format::kProtobuf, &bytes);
    return bytes;
  }
  static FakeResponse PageAnswer(const std::vector<std::string>& names,
                                 const std::string& more = "") {
    return {.headers = {{"content-type", "application/vnd.kubernetes.protobuf"}},
            .chunks = {Page(names, more)}};
  }
  static FakeResponse Expired() {
    return FakeResponse::Json(
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410})",
        410);
  }
  static std::string Names(const ObjectList<ConfigMap>& list) {
    std::string out;
    for (const ConfigMap& map : list.items) out += map.metadata.name;
    return out;
  }
  std::vector<std::string> Targets() const {
    std::vector<std::string> out;
    for (const net::Request& request : transport_->requests()) out.push_back(request.target);
    return out;
  }

  TestClock clock_;
  Context ctx_{clock_};
  std::shared_ptr<FakeTransport> transport_;
  std::unique_ptr<Client> client_;
};

TEST_F(StreamTest, ListsInOneResponseOrInPages) {
  Result<ObjectList<ConfigMap>> list =
      Script({PageAnswer({"a", "b"})}).List<ConfigMap>(ctx_, {.ns = "d"});
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  EXPECT_EQ(Names(*list), "ab");
  EXPECT_EQ(list->resource_version, "42");
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/api/v1/namespaces/d/configmaps"}));

  list = Script({PageAnswer({"a", "b"}, "t1"), PageAnswer({"c"}, "t2"), PageAnswer({"d"})})
             .List<ConfigMap>(ctx_, {.page_size = 2, .resource_version = "0"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(Names(*list), "abcd");
  EXPECT_EQ(Targets(), (std::vector<std::string>{"/api/v1/configmaps?limit=2&resourceVersion=0",
                                                 "/api/v1/configmaps?limit=2&continue=t1",
                                                 "/api/v1/configmaps?limit=2&continue=t2"}));
}

TEST_F(StreamTest, ExpiredContinueTokenRestartsTheList) {
  const std::vector<FakeResponse> script = {PageAnswer({"a", "b"}, "t1"), Expired(),
                                            PageAnswer({"b", "c", "d"})};
  const Result<ObjectList<ConfigMap>> list = Script(script).List<ConfigMap>(ctx_, {.page_size = 2});
  ASSERT_TRUE(list.ok()) << list.status().ToString();
  EXPECT_EQ(Names(*list), "bcd") << "what the first pages gave does not count";
  EXPECT_EQ(Targets().back(), "/api/v1/configmaps");

  // Without on_restart the error is returned.
  const Status status = Script(script)
                            .ListEach(ctx_, Resource::Of<ConfigMap>(), {.page_size = 2},
                                      [](const Object&) { return Status(); })
                            .status();
  EXPECT_TRUE(status.Is(Reason::kExpired));
  // Expired on the first page is not caused by a continue token.
  EXPECT_TRUE(Script({Expired()}).List<ConfigMap>(ctx_, {}).status().Is(Reason::kExpired));
}

TEST_F(StreamTest, BrokenPageIsRetriedUnlessObjectsWereDelivered) {
  const std::string whole = Page({"a", "b"}, "");
  FakeResponse nothing{.chunks = {whole.substr(0, 10)}, .end = Status::Unavailable("reset")};
  FakeResponse some{.chunks = {whole.substr(0, whole.size() - 20)},
                    .end = Status::Unavailable("x")};
  FakeResponse cut{.chunks = {whole.substr(0, 10)}};
  for (const FakeResponse& answer : {nothing, cut}) {
    const Result<ObjectList<ConfigMap>> list =
        Script({answer, PageAnswer({"a", "b"})}).List<ConfigMap>(ctx_);
    ASSERT_TRUE(list.ok()) << list.status().ToString();
    EXPECT_EQ(Names(*list), "ab");
  }
  EXPECT_TRUE(Script({some, PageAnswer({"a", "b"})})
                  .List<ConfigMap>(ctx_)
                  .status()
                  .Is(Reason::kServiceUnavailable));
  EXPECT_EQ(Targets().size(), 1u);
  EXPECT_FALSE(Script({nothing}).List<ConfigMap>(ctx_).ok());
  EXPECT_EQ(Targets().size(), 3u) << "not for ever";
  // An error response is not retried.
  EXPECT_FALSE(Script({FakeResponse::Json("busy", 503)}).List<ConfigMap>(ctx_).ok());
  EXPECT_EQ(Targets().size(), 1u);
}

TEST_F(StreamTest, ErrorOfTakeEndsTheList) {
  const Status status = Script({PageAnswer({"a", "b"}, "t")})
                            .ListEach(ctx_, Resource::Of<ConfigMap>(), {.page_size = 2},
                                      [](const Object&) { return Status::Conflict("enough"); })
                            .status();
  EXPECT_TRUE(status.Is(Reason::kConflict));
  EXPECT_EQ(Targets().size(), 1u);
}

TEST_F(StreamTest, MetadataRequestsUsePartialObjectMetadata) {
  meta::v1::PartialObjectMetadataList list;
  list.metadata.resourceVersion = "5";
  list.items.push_back({.metadata = {.name = "a"}});
  std::string bytes;
  EncodeObject(Object::Of(std::move(list)), Format::kProtobuf, &bytes);
  Client& client = Script({{.chunks = {bytes}}});
  std::string names;
  const Resource backups = Resource::Dynamic({"example.com", "v1", "Backup"}, "backups", true);
  const Result<std::string> version =
      client.ListMetadata(ctx_, backups, {}, [&](const Object& object) {
        EXPECT_NE(object.As<meta::v1::PartialObjectMetadata>(), nullptr);
        names += HeadOf(object).key.name;
        return Status();
      });
  ASSERT_TRUE(version.ok()) << version.status().ToString();
  EXPECT_EQ(*version, "5");
  EXPECT_EQ(names, "a");
  EXPECT_TRUE(transport_->last().headers.Get("accept")->starts_with(
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"));

  Client& watching = Script({{.headers = {{"content-type", "application/json"}},
                              .chunks = {R"({"type":"ADDED","object":{"kind":"Backup",)"
                                         R"("metadata":{"name":"a","resourceVersion":"6"}}})"}}});
  Result<std::unique_ptr<WatchStream>> watch = watching.WatchMetadata(ctx_, backups, {});
  ASSERT_TRUE(watch.ok());
  const Result<WatchEvent<Object>> event = (*watch)->Next(ctx_);
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  EXPECT_EQ(event->object->As<meta::v1::PartialObjectMetadata>()->metadata.name, "a");
  EXPECT_NE(transport_->last().headers.Get("accept")->find("as=PartialObjectMetadata;"),
            std::string::npos);
}

TEST_F(StreamTest, WatchReturnsEventsAndThenTheReasonOfItsEnd) {
  const std::string added =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"6"}}})";
  struct Case {
    FakeResponse answer;
    Status end;
  };
  const std::vector<Case> cases = {
      {{.chunks = {added, "\n"}}, EndOfWatch()},
      {{.chunks = {added, "\n{"}}, Status::Unavailable("the watch ended within an event")},
      {{.chunks = {added}, .end = Status::Unavailable("reset")}, Status::Unavailable("reset")},
      {{.chunks = {added, R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",)"
                          R"("status":"Failure","reason":"Expired","message":"old","code":410}})"}},
       Status::Expired("old")},
  };
  for (const Case& c : cases) {
    Result<std::unique_ptr<WatchStream>> watch =
        Script({c.answer}).Watch(ctx_, Resource::Of<ConfigMap>(), {});
    ASSERT_TRUE(watch.ok());
    const Result<WatchEvent<Object>> event = (*watch)->Next(ctx_);
    ASSERT_TRUE(event.ok()) << event.status().ToString();
    EXPECT_EQ(event->object->As<ConfigMap>()->metadata.name, "a");
    EXPECT_EQ(event->resource_version, "6");
    for (int i = 0; i < 2; ++i) EXPECT_EQ((*watch)->Next(ctx_).status(), c.end);
    EXPECT_EQ(IsEndOfWatch((*watch)->Next(ctx_).status()), IsEndOfWatch(c.end));
  }
}

TEST_F(StreamTest, WatchIsReadWithoutBlocking) {
  // The second event is incomplete.
  const std::string added =
      R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"6"}}})";
  Result<std::unique_ptr<WatchStream>> watch =
      Script({{.chunks = {added.substr(0, 20), added.substr(20), "\n{"}, .hold = true}})
          .Watch(ctx_, Resource::Of<ConfigMap>(), {});
  ASSERT_TRUE(watch.ok());
  Result<std::optional<WatchEvent<Object>>> event = (*watch)->TryNext([] {});
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  ASSERT_TRUE(event->has_value());
  EXPECT_EQ((*event)->resource_version, "6");
  for (int i = 0; i < 2; ++i) {
    event = (*watch)->TryNext([] {});
    ASSERT_TRUE(event.ok()) << event.status().ToString();
    EXPECT_FALSE(event->has_value());
  }
  watch = Script({{.chunks = {added}}}).Watch(ctx_, Resource::Of<ConfigMap>(), {});
  ASSERT_TRUE((*watch)->TryNext([] {}).ok());
  EXPECT_TRUE(IsEndOfWatch((*watch)->TryNext([] {}).status()));
}

TEST_F(StreamTest, RejectedWatchReturnsTheStatus) {
  const Status status = Script({Expired()}).Watch(ctx_, Resource::Of<ConfigMap>(), {}).status();
  EXPECT_TRUE(status.Is(Reason::kExpired));
}

TEST_F(StreamTest, StoppedContextEndsTheCallButNotTheWatch) {
  Client& client = Script(
      {{.chunks = {R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})"}, .hold = true}});
  Result<std::unique_ptr<WatchStream>> watch = client.Watch(ctx_, Resource::Of<ConfigMap>(), {});
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->Next(ctx_).ok());
  Context child = ctx_.Child();
  Scope scope(ctx_, "stop");
  ASSERT_TRUE(scope.Go("stop", [child](Context&) mutable { child.Stop(); }).ok());
  EXPECT_EQ((*watch)->Next(child).status(), Context::Canceled());
  scope.Stop();
  scope.Wait();
  Context soon = ctx_.Child();
  soon.Stop(Status::Conflict("other"));
  EXPECT_TRUE((*watch)->Next(soon).status().Is(Reason::kConflict)) << "asked anew";
}

TEST_F(StreamTest, FallsBackToJsonForStreams) {
  Client& client = Over([](const net::Request& request) {
    if (request.headers.Get("accept") != "application/json") return FakeResponse::Json("", 406);
    return FakeResponse::Json(R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"1"},)"
                              R"("items":[{"metadata":{"name":"j"}}]})");
  });
  const Result<ObjectList<ConfigMap>> list = client.List<ConfigMap>(ctx_);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(Names(*list), "j");
}

}  // namespace
}  // namespace cox::sdk
