// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/admission/plugins/plugins.h"
#include "apiserver/endpoints/resources.h"
#include "apiserver/registry/served/served.h"
#include "base/testing/test_clock.h"
#include "net/server.h"
#include "storage/memory/memory_store.h"
#include "storage/testing/faulty_store.h"

// For tests: requests without a network, and handlers with an in-memory store.
namespace cox::apiserver {

// A request whose response is kept for the test.
class FakeExchange final : public net::Exchange {
 public:
  FakeExchange(Clock& clock, net::Request request)
      : context_(clock), request_(std::move(request)) {}

  net::Request& request() override { return request_; }
  Context& context() override { return context_; }
  void Send(net::Response response) override {
    EXPECT_FALSE(answered()) << "answered twice";
    response_ = std::move(response);
  }
  std::shared_ptr<net::Waker> Stream(int status, net::Headers headers,
                                     std::unique_ptr<net::BodySource> source) override {
    EXPECT_FALSE(answered()) << "answered twice";
    response_ = net::Response{.status = status, .headers = std::move(headers), .body = {}};
    source_ = std::move(source);
    return std::make_shared<NoWaker>();
  }

  bool answered() const { return response_.has_value(); }
  // REQUIRES: answered()
  const net::Response& response() const { return *response_; }
  int status() const { return response_ ? response_->status : 0; }
  std::string Header(std::string_view name) const {
    return response_ ? std::string(response_->headers.Get(name).value_or("")) : std::string();
  }
  std::string Body() const {
    std::string text;
    if (!response_) return text;
    for (const Bytes& piece : response_->body) text += piece.view();
    return text;
  }
  // Returns the data that a stream currently has. The end of the stream is shown as "<end>".
  std::string Pull(size_t budget = 1 << 20) {
    std::string text;
    while (source_ != nullptr) {
      std::vector<Bytes> pieces;
      const net::BodySource::State state = source_->Pull(budget, &pieces);
      for (const Bytes& piece : pieces) text += piece.view();
      if (state == net::BodySource::State::kMore) continue;
      if (state == net::BodySource::State::kEnd) {
        source_.reset();
        text += "<end>";
      }
      break;
    }
    return text;
  }
  void Close() { source_.reset(); }
  // The source of a stream, for tests that pull it themselves.
  std::unique_ptr<net::BodySource> TakeSource() { return std::move(source_); }

 private:
  class NoWaker final : public net::Waker {
    void Wake() override {}
  };

  Context context_;
  net::Request request_;
  std::optional<net::Response> response_;
  std::unique_ptr<net::BodySource> source_;
};

struct FakeRequest {
  std::string method = "GET";
  std::string target;
  std::string body = {};
  net::Headers headers = {};
};

// A Call as handlers receive it from the filter chain: with parsed query and request info, and the
// user.
class FakeCall {
 public:
  FakeCall(Clock& clock, FakeRequest request)
      : exchange_(std::make_shared<FakeExchange>(clock,
                                                 net::Request{.method = std::move(request.method),
                                                              .target = std::move(request.target),
                                                              .headers = std::move(request.headers),
                                                              .body = std::move(request.body),
                                                              .peer = nullptr})),
        call_(std::make_shared<Call>(exchange_, "audit")) {
    call_->query = Query::Parse(call_->request().query());
    Result<RequestInfo> info =
        ParseRequestInfo(call_->request().method, call_->request().target, call_->query);
    EXPECT_TRUE(info.ok()) << call_->request().target;
    if (info.ok()) call_->info = std::move(*info);
    call_->user.name = "tester";
  }

  Call& operator*() { return *call_; }
  Call* operator->() { return call_.get(); }
  const std::shared_ptr<Call>& shared() const { return call_; }
  FakeExchange& exchange() { return *exchange_; }

 private:
  std::shared_ptr<FakeExchange> exchange_;
  std::shared_ptr<Call> call_;
};

// All kinds with an in-memory store and the default admission plugins except ServiceAccount. The
// namespace "default" exists.
class ApiHarness {
 public:
  ApiHarness() {
    EXPECT_TRUE(registry_.WaitReady(ctx_).ok());
    EXPECT_EQ(Do({.method = "POST",
                  .target = "/api/v1/namespaces",
                  .body = R"({"metadata":{"name":"default"}})"})
                  .exchange()
                  .status(),
              201);
  }
  // Threads that wait for the clock would never return.
  ~ApiHarness() { ctx_.Stop(); }

  FakeCall Do(FakeRequest request) {
    FakeCall call(clock_, std::move(request));
    HandleResource(handlers_, call.shared());
    return call;
  }
  // Returns "200 {...}".
  std::string Text(FakeRequest request) {
    FakeCall call = Do(std::move(request));
    return std::to_string(call.exchange().status()) + " " + call.exchange().Body();
  }

  // Waits until the cache of the kind contains the current state of the store.
  void Sync(const KindInfo& kind) {
    // Uses the hub version: other versions have no cache of their own.
    const Status status = registry_.Find(kind.group, kind.version, kind.plural)
                              ->store()
                              .cache()
                              ->Read(ctx_, {})
                              .status();
    EXPECT_TRUE(status.ok()) << status.message();
  }

  TestClock& clock() { return clock_; }
  Context& ctx() { return ctx_; }
  storage::Store& store() { return *store_; }
  // The store as requests use it.
  storage::FaultyStore& faults() { return faults_; }
  const Registry& registry() const { return registry_; }
  Registry& mutable_registry() { return registry_; }
  ResourceHandlers& handlers() { return handlers_; }

 private:
  // A store with two revisions. The caches contain only the second one.
  std::unique_ptr<storage::Store> MakeStore() {
    std::unique_ptr<storage::Store> store = storage::NewMemoryStore(clock_);
    for (const std::string_view key : {"/first", "/second"}) {
      EXPECT_TRUE(store->Create(ctx_, key, "", {}).ok());
    }
    return store;
  }

  TestClock clock_;
  Context ctx_{clock_};
  const std::unique_ptr<storage::Store> store_ = MakeStore();
  storage::FaultyStore faults_{*store_};
  Registry registry_{ctx_,
                     {.storage = [this](const KindInfo&) -> storage::Store& { return faults_; },
                      .serves =
                          [](const KindInfo& kind) {
                            return IsServedByDefault(kind.group, kind.version, kind.plural);
                          }}};
  const AlwaysAllow authorizer_;
  // Without a controller, namespaces have no "default" account.
  const AdmissionChain admission_ =
      MakeAdmission({.registry = registry_, .authorizer = authorizer_}, {}, {"ServiceAccount"});
  ResourceHandlers handlers_{registry_, admission_};
};

}  // namespace cox::apiserver
