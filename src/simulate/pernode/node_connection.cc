// SPDX-License-Identifier: Apache-2.0
#include "simulate/pernode/node_connection.h"

#include <utility>

#include "base/build_info.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::simulate {
namespace {

// Objects have at most 3 MiB.
constexpr size_t kMaxBody = size_t{4} * 1024 * 1024;

const std::string& UserAgent() {
  static const std::string agent = "coxswain-simulate/" + std::string(GetBuildInfo().git_version);
  return agent;
}

std::string WithoutEnvelope(const std::string& body) {
  if (!proto::HasEnvelope(body)) return {};
  const Result<proto::Envelope> envelope = proto::Open(body);
  return envelope.ok() ? std::string(envelope->raw) : std::string();
}

}  // namespace

// A request in flight.
class NodeConnection::Call final : public net::ResponseObserver {
 public:
  Call(NodeConnection& connection, RequestKind kind, bool wants_body, Done done)
      : shard_(connection.shard_),
        alive_(connection.alive_),
        kind_(kind),
        wants_body_(wants_body),
        done_(std::move(done)),
        began_(shard_.clock.Monotonic()) {}

  void Begin(const std::shared_ptr<Call>& self, net::Client& client, net::Request request) {
    timeout_.Set(shard_, kRequestTimeout, [weak = std::weak_ptr<Call>(self)] {
      if (const auto call = weak.lock()) call->Finish("timeout");
    });
    observation_ = client.Observe(std::move(request), self);
  }

  void OnHeaders(int status, net::Headers) override { reply_.code = status; }
  void OnData(std::string_view bytes) override {
    if (!wants_body_ || !reply_.ok() || reply_.body.size() + bytes.size() > kMaxBody) return;
    reply_.body.append(bytes);
  }
  void OnEnd(const Status& status) override {
    if (!status.ok()) return Finish("unavailable");
    if (wants_body_) reply_.body = WithoutEnvelope(reply_.body);
    Finish({});
  }

 private:
  // `failure`: why there is no response; empty if there is one.
  void Finish(std::string_view failure) {
    const Done done = std::exchange(done_, nullptr);
    if (done == nullptr) return;
    const auto observation = std::move(observation_);  // canceled at the end
    timeout_.Cancel();
    if (alive_.expired()) return;
    if (!failure.empty()) reply_ = {};
    shard_.metrics.CountRequest(kind_, failure.empty() ? std::to_string(reply_.code) : failure,
                                shard_.clock.Monotonic() - began_);
    done(std::move(reply_));
  }

  Shard& shard_;
  const std::weak_ptr<bool> alive_;
  const RequestKind kind_;
  const bool wants_body_;
  Done done_;
  const Clock::SteadyTime began_;
  Reply reply_;
  LoopTimer timeout_;
  std::unique_ptr<net::Observation> observation_;
};

NodeConnection::NodeConnection(Shard& shard, std::unique_ptr<net::Client> client)
    : shard_(shard), alive_(std::make_shared<bool>(true)), client_(std::move(client)) {}

NodeConnection::~NodeConnection() { alive_.reset(); }

void NodeConnection::Send(NodeRequest request, Done done) {
  net::Request http;
  http.method = std::move(request.method);
  http.target = std::move(request.target);
  http.headers = {{"accept", std::string(kProtobuf)}, {"user-agent", UserAgent()}};
  if (!request.body.empty()) http.headers.Add("content-type", std::move(request.content_type));
  http.body = std::move(request.body);
  const auto call =
      std::make_shared<Call>(*this, request.kind, request.wants_body, std::move(done));
  call->Begin(call, *client_, std::move(http));
}

std::unique_ptr<net::Observation> NodeConnection::Watch(
    std::string target, std::shared_ptr<net::ResponseObserver> observer) {
  net::Request http;
  http.method = "GET";
  http.target = std::move(target);
  http.headers = {{"accept", std::string(kProtobuf)}, {"user-agent", UserAgent()}};
  return client_->Observe(std::move(http), std::move(observer));
}

}  // namespace cox::simulate
