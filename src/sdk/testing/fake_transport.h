// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/await_stop.h"
#include "base/mutex.h"
#include "coxswain/transport.h"

// A scripted server for unit tests of the SDK.
namespace cox::sdk {

struct FakeResponse {
  int status = 200;
  net::Headers headers = {};
  std::vector<std::string> chunks = {};  // chunks of the body, one per Read
  Status failure = {};                   // transport error instead of a response
  // After the chunks: OK ends the body, an error is returned by Read.
  Status end = {};
  bool hold = false;  // after the chunks Read waits until its context stops

  static FakeResponse Json(std::string body, int status = 200) {
    return {.status = status,
            .headers = {{"content-type", "application/json"}},
            .chunks = {std::move(body)}};
  }
  static FakeResponse Fail(Status why) { return {.failure = std::move(why)}; }
};

// Calls `answer` for each request, returns its result and records the requests.
// Threads: all methods may be called concurrently; `answer` is called without a lock.
class FakeTransport final : public Transport {
 public:
  using Answer = std::function<FakeResponse(const net::Request&)>;
  explicit FakeTransport(Answer answer) : answer_(std::move(answer)) {}
  // Returns these responses in order, then the last one for all further requests.
  explicit FakeTransport(std::vector<FakeResponse> script)
      : answer_([this, script = std::move(script)](const net::Request&) {
          return script[std::min(requests().size(), script.size()) - 1];
        }) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    COX_RETURN_IF_ERROR(ctx.status());
    FakeResponse answer = Ask(request);
    if (!answer.failure.ok()) return answer.failure;
    if (!answer.end.ok()) return answer.end;
    net::Response response{.status = answer.status, .headers = std::move(answer.headers)};
    for (std::string& chunk : answer.chunks) response.body.emplace_back(std::move(chunk));
    return response;
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    COX_RETURN_IF_ERROR(ctx.status());
    FakeResponse answer = Ask(request);
    if (!answer.failure.ok()) return answer.failure;
    return std::make_unique<Stream>(std::move(answer));
  }

  std::vector<net::Request> requests() const {
    const MutexLock lock(mu_);
    return requests_;
  }
  net::Request last() const { return requests().back(); }

 private:
  class Stream final : public net::ClientStream {
   public:
    explicit Stream(FakeResponse answer) : answer_(std::move(answer)) {}
    int status() const override { return answer_.status; }
    const net::Headers& headers() const override { return answer_.headers; }
    Result<Bytes> Read(Context& ctx) override {
      COX_RETURN_IF_ERROR(ctx.status());
      if (next_ < answer_.chunks.size()) return Bytes(answer_.chunks[next_++]);
      if (answer_.hold) return AwaitStop(ctx);
      if (!answer_.end.ok()) return answer_.end;
      return Bytes();
    }
    Result<std::optional<Bytes>> TryRead(const std::function<void()>&) override {
      if (next_ < answer_.chunks.size()) return std::optional(Bytes(answer_.chunks[next_++]));
      if (answer_.hold) return std::optional<Bytes>();
      if (!answer_.end.ok()) return answer_.end;
      return std::optional(Bytes());
    }

   private:
    const FakeResponse answer_;
    size_t next_ = 0;
  };

  FakeResponse Ask(const net::Request& request) {
    {
      const MutexLock lock(mu_);
      requests_.push_back(request);
    }
    return answer_(request);
  }

  const Answer answer_;
  mutable Mutex mu_;
  std::vector<net::Request> requests_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::sdk
