// SPDX-License-Identifier: Apache-2.0
#include "testkit/faulty_transport.h"

#include <atomic>
#include <map>
#include <utility>

#include "apiserver/request/call.h"
#include "apiserver/request/request_info.h"
#include "base/await_stop.h"
#include "base/mutex.h"
#include "net/client/not_sent.h"
#include "net/websocket.h"
#include "testkit/faults/faulty_stream.h"

namespace cox::testkit {
namespace {

// Converts a request to the fields of RequestMatch.
RequestMatch Describe(const net::Request& request) {
  const std::string_view method =
      request.method.empty() ? std::string_view("GET") : std::string_view(request.method);
  Result<apiserver::RequestInfo> info =
      apiserver::ParseRequestInfo(method, request.target, apiserver::Query::Parse(request.query()));
  if (!info.ok()) return {.verb = request.method, .resource = {}, .ns = {}, .name = {}};
  return {.verb = std::move(info->verb),
          .resource = std::move(info->resource),
          .ns = std::move(info->namespace_),
          .name = std::move(info->name)};
}

bool Matches(const RequestMatch& match, const RequestMatch& request) {
  const auto same = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  return same(match.verb, request.verb) && same(match.resource, request.resource) &&
         same(match.ns, request.ns) && same(match.name, request.name);
}

Status Refused() { return net::MarkNotSent(Status::Unavailable("connection refused")); }

net::Response ResponseOf(const Status& status) {
  net::Response response{.status = status.code(), .headers = {}, .body = {}};
  response.headers.Add("content-type", "application/json");
  if (status.details().retry_after_seconds > 0) {
    response.headers.Add("retry-after", std::to_string(status.details().retry_after_seconds));
  }
  response.body.emplace_back(
      apiserver::EncodeStatus(status, apiserver::Accepted{.format = Format::kJson}));
  return response;
}

// A complete response as a stream.
class WholeResponse final : public net::ClientStream {
 public:
  explicit WholeResponse(net::Response response) : response_(std::move(response)) {}

  int status() const override { return response_.status; }
  const net::Headers& headers() const override { return response_.headers; }
  Result<Bytes> Read(Context&) override {
    return next_ < response_.body.size() ? response_.body[next_++] : Bytes();
  }

 private:
  const net::Response response_;
  size_t next_ = 0;
};

class FaultyTransportImpl final : public FaultyTransport {
 public:
  explicit FaultyTransportImpl(std::shared_ptr<Transport> under) : under_(std::move(under)) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    const Fault fault = Meet(request);
    COX_RETURN_IF_ERROR(Before(ctx, fault));
    if (fault.answer) return ResponseOf(*fault.answer);
    COX_ASSIGN_OR_RETURN(net::Response response, UnderOf(fault).Do(ctx, std::move(request)));
    COX_RETURN_IF_ERROR(After(ctx, fault));
    size_t size = 0;
    for (const Bytes& piece : response.body) size += piece.size();
    if (fault.cut_after_bytes && size > *fault.cut_after_bytes) return StreamFaults::Reset();
    return response;
  }

  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    const Fault fault = Meet(request);
    COX_RETURN_IF_ERROR(Before(ctx, fault));
    std::unique_ptr<net::ClientStream> stream;
    if (fault.answer) {
      stream = std::make_unique<WholeResponse>(ResponseOf(*fault.answer));
      return stream;
    }
    COX_ASSIGN_OR_RETURN(stream, UnderOf(fault).Start(ctx, std::move(request)));
    COX_RETURN_IF_ERROR(After(ctx, fault));
    stream = std::make_unique<FaultyStream>(std::move(stream), fault, faults_, running_);
    return stream;
  }

  Result<std::unique_ptr<net::WebSocket>> OpenWebSocket(
      Context& ctx, net::Request request, std::vector<std::string> protocols) override {
    const Fault fault = Meet(request);
    COX_RETURN_IF_ERROR(Before(ctx, fault));
    if (fault.answer) return *fault.answer;
    return UnderOf(fault).OpenWebSocket(ctx, std::move(request), std::move(protocols));
  }

  uint64_t Add(RequestMatch match, Fault fault) override {
    MutexLock lock(mu_);
    rules_.emplace(++last_id_, Rule{std::move(match), std::move(fault)});
    return last_id_;
  }
  void Remove(uint64_t id) override {
    MutexLock lock(mu_);
    rules_.erase(id);
  }
  void Clear() override {
    MutexLock lock(mu_);
    rules_.clear();
  }

  void BreakStreams() override { faults_->Break(); }
  void SetSilent(bool silent) override { faults_->SetSilent(silent); }

  size_t requests(const RequestMatch& match) const override {
    MutexLock lock(mu_);
    return CountLocked(match);
  }
  Status AwaitRequests(Context& ctx, const RequestMatch& match, size_t count) const override {
    MutexLock lock(mu_);
    return ctx.Await(mu_, changed_,
                     [&]() COX_REQUIRES(mu_) { return CountLocked(match) >= count; });
  }
  size_t streams() const override { return *running_; }

 private:
  struct Rule {
    RequestMatch match;
    Fault fault;
  };
  // A counter per distinct request; tests send few distinct ones.
  struct Seen {
    RequestMatch request;
    size_t count = 0;
  };

  size_t CountLocked(const RequestMatch& match) const COX_REQUIRES(mu_) {
    size_t count = 0;
    for (const Seen& seen : seen_) count += Matches(match, seen.request) ? seen.count : 0;
    return count;
  }

  void CountRequest(const RequestMatch& request) COX_REQUIRES(mu_) {
    for (Seen& seen : seen_) {
      if (seen.request.verb != request.verb || seen.request.resource != request.resource ||
          seen.request.ns != request.ns || seen.request.name != request.name) {
        continue;
      }
      ++seen.count;
      return;
    }
    seen_.push_back({request, 1});
  }

  // Counts the request and returns its fault.
  Fault Meet(const net::Request& request) {
    const RequestMatch is = Describe(request);
    MutexLock lock(mu_);
    CountRequest(is);
    changed_.NotifyAll();
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
      Fault& fault = rule->second.fault;
      if (!Matches(rule->second.match, is) || fault.times == 0) continue;
      if (fault.skip > 0) {
        --fault.skip;
        continue;
      }
      if (fault.times != SIZE_MAX) --fault.times;
      return fault;
    }
    return {};
  }

  Status Before(Context& ctx, const Fault& fault) const {
    if (fault.delay > Clock::Duration::zero()) COX_RETURN_IF_ERROR(ctx.Sleep(fault.delay));
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(ctx, faults_->breaks()));
    if (fault.refuse) return Refused();
    return fault.silent ? AwaitStop(ctx) : Status();
  }

  Status After(Context& ctx, const Fault& fault) const {
    COX_RETURN_IF_ERROR(faults_->AwaitDelivery(ctx, faults_->breaks()));
    return fault.lose_response ? StreamFaults::Reset() : Status();
  }

  Transport& UnderOf(const Fault& fault) const {
    return fault.other != nullptr ? *fault.other : *under_;
  }

  const std::shared_ptr<Transport> under_;
  const std::shared_ptr<StreamFaults> faults_ = std::make_shared<StreamFaults>();
  const std::shared_ptr<std::atomic<size_t>> running_ = std::make_shared<std::atomic<size_t>>(0);
  mutable Mutex mu_;
  mutable CondVar changed_;
  std::map<uint64_t, Rule> rules_ COX_GUARDED_BY(mu_);  // by id: the newest is last
  uint64_t last_id_ COX_GUARDED_BY(mu_) = 0;
  std::vector<Seen> seen_ COX_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<FaultyTransport> FaultyTransport::Over(std::shared_ptr<Transport> under) {
  return std::make_shared<FaultyTransportImpl>(std::move(under));
}

}  // namespace cox::testkit
