// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/test_clock.h"
#include "net/client.h"
#include "object/codec/protobuf/protobuf.h"
#include "object/initial_events.h"
#include "object/type/kind.h"
#include "simulate/pernode/node_connection.h"
#include "simulate/pernode/shard.h"

namespace cox::simulate {

// A request that a node sent. The test plays the server.
struct FakeExchange {
  net::Request request;
  std::shared_ptr<net::ResponseObserver> observer;
  bool canceled = false;
  bool answered = false;

  bool open() const { return !canceled && !answered; }
  // Sends a whole response.
  void Answer(int code, const std::string& body = "") {
    answered = true;
    observer->OnHeaders(code, {});
    if (!body.empty()) observer->OnData(body);
    observer->OnEnd({});
  }
  void Break() {
    answered = true;
    observer->OnEnd(Status::Unavailable("the connection broke"));
  }
};

// A client whose requests the test answers.
class FakeNodeClient final : public net::Client {
 public:
  explicit FakeNodeClient(std::vector<std::shared_ptr<FakeExchange>>& sent) : sent_(sent) {}

  Result<net::Response> Do(Context&, net::Request) override {
    return Status::Internal("nodes do not block");
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context&, net::Request) override {
    return Status::Internal("nodes do not block");
  }
  std::unique_ptr<net::Observation> Observe(
      net::Request request, std::shared_ptr<net::ResponseObserver> observer) override {
    sent_.push_back(std::make_shared<FakeExchange>());
    sent_.back()->request = std::move(request);
    sent_.back()->observer = std::move(observer);
    return std::make_unique<Handle>(sent_.back());
  }
  size_t connections() const override { return 1; }

 private:
  struct Handle final : net::Observation {
    explicit Handle(std::shared_ptr<FakeExchange> of) : exchange(std::move(of)) {}
    ~Handle() override { exchange->canceled = true; }
    const std::shared_ptr<FakeExchange> exchange;
  };
  std::vector<std::shared_ptr<FakeExchange>>& sent_;
};

// The environment of one node, in which time and the server are driven by the test.
class NodeHarness : public ::testing::Test {
 public:
  NodeHarness()
      : metrics(registry),
        shard{.options = options,
              .clock = clock,
              .log = {},
              .metrics = metrics,
              .addresses = addresses,
              .random = [] { return 0.0; },
              .post = [](const std::function<void()>& work) { work(); },
              .starts = Permits(1),
              .pod_writes = Permits(100)} {}
  // A client drops the observers of requests that are still open. They own their exchanges.
  ~NodeHarness() override {
    for (const auto& exchange : sent) exchange->observer.reset();
  }

  std::unique_ptr<net::Client> NewClient() { return std::make_unique<FakeNodeClient>(sent); }

  // The open request whose method and target start with `what`: "PUT /apis/coordination". Null if
  // there is none.
  std::shared_ptr<FakeExchange> Open(const std::string& what) const {
    for (const auto& exchange : sent) {
      const std::string line = exchange->request.method + " " + exchange->request.target;
      if (exchange->open() && line.starts_with(what)) return exchange;
    }
    return nullptr;
  }
  size_t CountOpen(const std::string& what) const {
    size_t count = 0;
    for (const auto& exchange : sent) {
      const std::string line = exchange->request.method + " " + exchange->request.target;
      if (exchange->open() && line.starts_with(what)) ++count;
    }
    return count;
  }
  // The value of a metric without labels, or with exactly the given ones: "name{a=\"b\"}".
  double Metric(const std::string& series) const {
    const std::string text = registry.Render();
    const size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }

  template <class T>
  static std::string Sealed(const T& object) {
    std::string body;
    proto::Seal("v1", T::kKind.kind, T::kType, &object, &body);
    return body;
  }
  // One event of a watch response.
  template <class T>
  static std::string Event(const std::string& type, const T& object) {
    const std::string sealed = Sealed(object);
    std::string raw, message;
    proto::AppendLengthPrefix(&raw, 1, sealed.size());
    raw += sealed;
    proto::AppendLengthPrefix(&message, 1, type.size());
    message += type;
    proto::AppendLengthPrefix(&message, 2, raw.size());
    message += raw;
    std::string frame;
    for (int shift = 24; shift >= 0; shift -= 8) {
      frame += static_cast<char>(message.size() >> shift & 0xff);
    }
    return frame + message;
  }
  template <class T>
  static std::string Bookmark(const std::string& version, bool end_of_list) {
    T object;
    object.metadata.resourceVersion = version;
    if (end_of_list) object.metadata.annotations[kInitialEventsEnd] = "true";
    return Event("BOOKMARK", object);
  }

  TestClock clock;
  Options options;
  MetricsRegistry registry;
  PerNodeMetrics metrics;
  PodAddresses addresses;
  Shard shard;
  std::vector<std::shared_ptr<FakeExchange>> sent;
};

}  // namespace cox::simulate
