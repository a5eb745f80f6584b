// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/registry/served/registry.h"
#include "apiserver/testing/runtime_kind.h"
#include "base/mutex.h"
#include "coxswain/client.h"
#include "testkit/test_cluster.h"
#include "tests/widgets.h"

namespace cox::testkit {

// Adds, changes and removes a kind while eight clients read and watch other kinds over HTTPS.
class KindChurn {
 public:
  explicit KindChurn(TestClusterOptions::Storage storage) {
    TestClusterOptions options;
    options.storage = storage;
    options.https = true;
    Result<std::unique_ptr<TestCluster>> started = TestCluster::Start(std::move(options));
    if (!started.ok()) {
      ADD_FAILURE() << started.status().ToString();
      return;
    }
    cluster_ = std::move(*started);
    Check(cluster_->client().Create(ctx_, NewMap("counter")).status(), "create the counter");
    admin_ = NewClient();
    // Build the documents once, so that the times below include only the work after a change.
    changed_ = clock_.Monotonic();
    Times first;
    Expect("/openapi/v3", "apis/apps/v1", /*there=*/true, &first);
    Expect("/openapi/v2", "/apis/apps/v1/deployments", true, &first);
    for (int i = 0; i < kReaders; ++i) threads_.emplace_back([this, i] { Read(i); });
    for (int i = 0; i < kWatchers; ++i) threads_.emplace_back([this] { Watch(); });
  }
  ~KindChurn() { Finish(); }
  bool started() const { return cluster_ != nullptr; }

  // Adds, changes and removes the kind. After each change, the watch of the kind ends, and
  // discovery and OpenAPI documents are updated.
  enum class OpenApi : uint8_t { kNone, kV3, kBoth };
  void Cycle(int number, OpenApi openapi) {
    const bool v3 = openapi != OpenApi::kNone, v2 = openapi == OpenApi::kBoth;
    const std::string name = "w" + std::to_string(number);
    LetClientsRead();
    Apply({.put = {apiserver::NewRuntimeKind({.short_names = {name}})}, .remove = {}});
    Expect("/apis", R"("shortNames":[")" + name + "\"]", /*there=*/true, &discovery_);
    if (v3) {
      Expect("/openapi/v3/apis/example.com/v1", "/apis/example.com/v1/widgets", true, &openapi_v3_);
    }
    std::unique_ptr<WatchStream> first = WatchWidgets("v1");
    Check(CreateWidget("v1", name), "create a widget");

    Apply({.put = {apiserver::NewRuntimeKind(
               {.versions = {"v1", "v2"}, .short_names = {name, "changed"}})},
           .remove = {}});
    ExpectEnd(*first);
    Expect("/apis", R"("shortNames":[")" + name + R"(","changed"])", true, &discovery_);
    if (v3) Expect("/openapi/v3", R"("apis/example.com/v2")", true, &openapi_v3_);
    if (v2) Expect("/openapi/v2", "/apis/example.com/v2/widgets", true, &openapi_v2_);
    std::unique_ptr<WatchStream> second = WatchWidgets("v2");
    Check(admin_->Delete(ctx_, Widgets("v2"), {"default", name}).status(), "delete the widget");

    Apply({.put = {}, .remove = {{"example.com", "widgets"}}});
    ExpectEnd(*second);
    Expect("/apis", "example.com", false, &discovery_);
    if (v3) Expect("/openapi/v3", "example.com", false, &openapi_v3_);
    if (v2) Expect("/openapi/v2", "/apis/example.com/", false, &openapi_v2_);
    CountUp(number);
    EXPECT_TRUE(AwaitReaders().ok());
  }

  // Stops the clients.
  void Finish() {
    if (finished_.exchange(true)) return;
    {
      MutexLock lock(mu_);
      stopping_ = true;
      changed_rounds_.NotifyAll();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    EXPECT_GT(reads_, 0);
    admin_.reset();
    cluster_.reset();
  }

  // Times in milliseconds until a response shows a change.
  struct Times {
    std::vector<double> all;
    double Median() const {
      std::vector<double> sorted = all;
      std::sort(sorted.begin(), sorted.end());
      return sorted.empty() ? 0 : sorted[sorted.size() / 2];
    }
    double Longest() const { return all.empty() ? 0 : *std::max_element(all.begin(), all.end()); }
  };
  const Times& discovery() const { return discovery_; }
  const Times& openapi_v3() const { return openapi_v3_; }
  const Times& openapi_v2() const { return openapi_v2_; }
  int64_t reads() const { return reads_; }

 private:
  static constexpr int kReaders = 4;
  static constexpr int kWatchers = 4;
  static constexpr int kRoundsOfACycle = 1;

  static core::v1::ConfigMap NewMap(std::string name) {
    core::v1::ConfigMap map;
    map.metadata.namespace_ = "default";
    map.metadata.name = std::move(name);
    return map;
  }
  static void Check(const Status& status, std::string_view what) {
    EXPECT_TRUE(status.ok()) << "could not " << what << ": " << status.ToString();
  }

  std::unique_ptr<Client> NewClient() {
    Result<std::unique_ptr<Client>> client = Connect(ctx_, cluster_->config());
    Check(client.status(), "connect");
    return client.ok() ? std::move(*client) : nullptr;
  }
  void Apply(apiserver::Registry::Changes changes) {
    Check(cluster_->registry().Apply(ctx_, std::move(changes)), "change the kinds");
    changed_ = clock_.Monotonic();
  }
  std::unique_ptr<WatchStream> WatchWidgets(const std::string& version) {
    Result<std::unique_ptr<WatchStream>> watch = admin_->Watch(ctx_, Widgets(version), {});
    Check(watch.status(), "watch the widgets");
    return watch.ok() ? std::move(*watch) : nullptr;
  }
  Status CreateWidget(const std::string& version, const std::string& name) {
    return admin_->Create(ctx_, Widgets(version), NewWidget({"default", name}, version)).status();
  }
  // Skips pending events, then expects the end of the watch.
  void ExpectEnd(WatchStream& watch) {
    for (;;) {
      const Result<WatchEvent<Object>> event = watch.Next(ctx_);
      if (event.ok()) continue;
      EXPECT_TRUE(IsEndOfWatch(event.status())) << event.status().ToString();
      return;
    }
  }
  // Repeats the request until the response contains `text`, or no longer contains it.
  void Expect(const std::string& path, std::string_view text, bool there, Times* times) {
    for (;;) {
      net::Request request;
      request.method = "GET";
      request.target = path;
      if (path == "/apis") {
        request.headers.Add("accept",
                            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      }
      const Result<net::Response> response = admin_->transport().Do(ctx_, std::move(request));
      Check(response.status(), path);
      if (!response.ok()) return;
      std::string body;
      for (const Bytes& piece : response->body) body += piece.view();
      if ((body.find(text) != std::string::npos) == there) break;
    }
    times->all.push_back(
        std::chrono::duration<double, std::milli>(clock_.Monotonic() - changed_).count());
    changed_ = clock_.Monotonic();
  }
  void CountUp(int number) {
    core::v1::ConfigMap map = NewMap("counter");
    map.data["cycle"] = std::to_string(number);
    Check(admin_->Update(ctx_, std::move(map)).status(), "count up");
  }

  // Each reader makes a fixed number of rounds per cycle. Without that limit, most of the time of a
  // run with a sanitizer would be spent on reads.
  void LetClientsRead() {
    MutexLock lock(mu_);
    rounds_allowed_ += kRoundsOfACycle;
    changed_rounds_.NotifyAll();
  }
  Status AwaitReaders() {
    MutexLock lock(mu_);
    return ctx_.Await(mu_, changed_rounds_, [this]() COX_REQUIRES(mu_) {
      return rounds_read_ >= kReaders * rounds_allowed_;
    });
  }
  // False if the client has to stop.
  bool AwaitRound(int round) {
    MutexLock lock(mu_);
    const Status status = ctx_.Await(mu_, changed_rounds_, [&]() COX_REQUIRES(mu_) {
      return stopping_ || round < rounds_allowed_;
    });
    return status.ok() && !stopping_;
  }

  void Read(int reader) {
    const std::unique_ptr<Client> client = NewClient();
    const std::string name = "of-reader-" + std::to_string(reader);
    Check(client->Create(ctx_, NewMap(name)).status(), "create");
    for (int round = 0; AwaitRound(round); ++round) {
      Check(client->List<core::v1::ConfigMap>(ctx_, {.ns = "default"}).status(), "list ConfigMaps");
      Check(client->List<core::v1::Namespace>(ctx_).status(), "list Namespaces");
      Result<core::v1::ConfigMap> mine = client->Get<core::v1::ConfigMap>(ctx_, {"default", name});
      Check(mine.status(), "get");
      if (mine.ok()) {
        mine->data["reads"] = std::to_string(reads_);
        Check(client->Update(ctx_, std::move(*mine)).status(), "update");
      }
      ++reads_;
      MutexLock lock(mu_);
      ++rounds_read_;
      changed_rounds_.NotifyAll();
    }
  }
  // The watch must not end, and must deliver changes in order, until the client stops.
  void Watch() {
    const std::unique_ptr<Client> client = NewClient();
    const auto list = client->List<core::v1::ConfigMap>(ctx_, {.ns = "default"});
    Check(list.status(), "list ConfigMaps");
    if (!list.ok()) return;
    int64_t last = std::stoll(list->resource_version);
    const Result<std::unique_ptr<WatchStream>> watch =
        client->Watch(ctx_, Resource::Of<core::v1::ConfigMap>(),
                      {.list = {.ns = "default", .resource_version = list->resource_version},
                       .bookmarks = false});
    Check(watch.status(), "watch ConfigMaps");
    while (watch.ok() && !stopping_) {
      Context moment = ctx_.WithTimeout(std::chrono::milliseconds(50));
      const Result<WatchEvent<Object>> event = (*watch)->Next(moment);
      if (!event.ok()) {
        if (moment.Done()) continue;
        ADD_FAILURE() << "the watch of ConfigMaps failed: " << event.status().ToString();
        return;
      }
      const int64_t version = std::stoll(event->resource_version);
      EXPECT_GT(version, last);
      last = version;
    }
  }

  RealClock clock_;
  Context ctx_{clock_};
  std::unique_ptr<TestCluster> cluster_;
  std::unique_ptr<Client> admin_;
  Clock::SteadyTime changed_;
  Times discovery_, openapi_v3_, openapi_v2_;
  Mutex mu_;
  CondVar changed_rounds_;
  int rounds_allowed_ COX_GUARDED_BY(mu_) = 0;
  int rounds_read_ COX_GUARDED_BY(mu_) = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> finished_ = false;
  std::atomic<int64_t> reads_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace cox::testkit
