// SPDX-License-Identifier: Apache-2.0
// Overhead of the client, without server and network: CPU of a typical status patch, memory of a
// long list.
#include <gtest/gtest.h>

#include "api/apps/v1.h"
#include "api/core/v1.h"
#include "base/clock.h"
#include "coxswain/client.h"
#include "object/codec.h"
#include "object/testing/cost_meter.h"
#include "sdk/testing/fake_transport.h"

namespace cox::sdk {
namespace {

using apps::v1::Deployment;

Deployment Web() {
  Deployment web{.metadata = {.name = "web",
                              .namespace_ = "default",
                              .uid = "0d6f3c9e-6f0c-4b8f-9d0e-1c2b3a495867",
                              .resourceVersion = "123456",
                              .labels = {{"app", "web"}, {"tier", "front"}}}};
  web.spec.replicas = 3;
  web.spec.selector.emplace().matchLabels["app"] = "web";
  web.spec.template_.metadata.labels["app"] = "web";
  web.spec.template_.spec.containers.push_back({.name = "c", .image = "registry.k8s.io/web:1.2"});
  web.status.conditions.push_back(
      {.type = "Available", .status = "True", .reason = "MinimumReplicasAvailable"});
  return web;
}

// Unlike FakeTransport it records no requests, which would count as memory.
class CannedTransport final : public Transport {
 public:
  explicit CannedTransport(std::string body) : body_(std::move(body)) {}
  Result<net::Response> Do(Context&, net::Request request) override {
    sent_ += request.body.size();
    return net::Response{.status = 200,
                         .headers = {{"content-type", "application/vnd.kubernetes.protobuf"},
                                     {"audit-id", "0d6f3c9e-6f0c-4b8f-9d0e-1c2b3a495867"}},
                         .body = {Bytes::Static(body_)}};
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context&, net::Request) override {
    return std::make_unique<Stream>(body_);
  }
  size_t sent() const { return sent_; }

 private:
  class Stream final : public net::ClientStream {
   public:
    explicit Stream(std::string_view body) : rest_(body) {}
    int status() const override { return 200; }
    const net::Headers& headers() const override { return headers_; }
    Result<Bytes> Read(Context&) override {
      const std::string_view piece = rest_.substr(0, 16 * 1024);
      rest_.remove_prefix(piece.size());
      return Bytes::Static(piece);
    }

   private:
    std::string_view rest_;
    const net::Headers headers_;
  };

  const std::string body_;
  size_t sent_ = 0;
};

std::string Encoded(const Object& object, Format format) {
  std::string bytes;
  EncodeObject(object, format, &bytes);
  return bytes;
}

TEST(ClientCostTest, StatusPatchTakesAFewMicroseconds) {
  RealClock clock;
  Context ctx(clock);
  MetricsRegistry registry;
  const auto transport =
      std::make_shared<CannedTransport>(Encoded(Object::Of(Web()), Format::kProtobuf));
  const auto client = MakeClient(transport, {}, MakeClientMetrics(registry));
  const Deployment before = Web();
  constexpr int kRounds = 20'000;
  const Cost cost = Measure([&] {
    for (int i = 0; i < kRounds; ++i) {
      Deployment after = before;
      after.status.replicas = i + 1;
      const Result<Deployment> patched =
          client->PatchStatus<Deployment>(ctx, {"default", "web"}, Patch::Between(before, after));
      ASSERT_TRUE(patched.ok()) << patched.status().ToString();
    }
  });
  const double us = cost.seconds / kRounds * 1e6;
  RecordProperty("status_patch_ns", static_cast<int>(us * 1000));
  EXPECT_LT(us, 30 * kSlow);
}

// 5,000 and 40,000 objects need the same memory.
TEST(ClientCostTest, ListIsReadInConstantMemory) {
  RealClock clock;
  Context ctx(clock);
  for (const Format format : {Format::kJson, Format::kProtobuf}) {
    for (const int count : {5'000, 40'000}) {
      core::v1::ConfigMapList list;
      list.metadata.resourceVersion = "1";
      for (int i = 0; i < count; ++i) {
        core::v1::ConfigMap map{.metadata = {.name = "map-" + std::to_string(i)}};
        map.data["key"] = std::string(1000, 'x');
        list.items.push_back(std::move(map));
      }
      const auto transport =
          std::make_shared<CannedTransport>(Encoded(Object::Of(std::move(list)), format));
      const auto client = MakeClient(transport);
      int seen = 0;
      const Cost cost = Measure([&] {
        const Result<std::string> version =
            client->ListEach(ctx, Resource::Of<core::v1::ConfigMap>(), {}, [&](const Object&) {
              ++seen;
              return Status();
            });
        ASSERT_TRUE(version.ok()) << version.status().ToString();
      });
      EXPECT_EQ(seen, count);
      const std::string what =
          (format == Format::kJson ? "json_" : "protobuf_") + std::to_string(count);
      RecordProperty(what + "_held_bytes", std::to_string(cost.bytes));
      RecordProperty(what + "_ns_each", std::to_string(cost.seconds / count * 1e9));
      EXPECT_LT(cost.bytes, 256 * 1024);
    }
  }
}

}  // namespace
}  // namespace cox::sdk
