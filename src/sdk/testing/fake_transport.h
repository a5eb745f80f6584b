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

// A server that a test writes: for unit tests of the SDK.
namespace cox::sdk {

struct FakeAnswer {
  int status = 200;
  net::Headers headers = {};
  std::vector<std::string> chunks = {};  // of the body, as Read gives them
  Status failure = {};                   // instead of an answer: the transport's
  // After the chunks: OK ends the body, else what Read says then.
  Status end = {};
  bool hold = false;  // after the chunks Read waits until its context stops

  static FakeAnswer Json(std::string body, int status = 200) {
    return {.status = status,
            .headers = {{"content-type", "application/json"}},
            .chunks = {std::move(body)}};
  }
  static FakeAnswer Fail(Status why) { return {.failure = std::move(why)}; }
};

// Answers as `answer` says, which gets each request. Remembers them all.
// Threads: all methods may be called concurrently; `answer` is called with no lock held.
class FakeTransport final : public Transport {
 public:
  using Answer = std::function<FakeAnswer(const net::Request&)>;
  explicit FakeTransport(Answer answer) : answer_(std::move(answer)) {}
  // These one after the other; the last one for all that follow.
  explicit FakeTransport(std::vector<FakeAnswer> script)
      : answer_([this, script = std::move(script)](const net::Request&) {
          return script[std::min(requests().size(), script.size()) - 1];
        }) {}

  Result<net::Response> Do(Context& ctx, net::Request request) override {
    COX_RETURN_IF_ERROR(ctx.status());
    FakeAnswer answer = Ask(request);
    if (!answer.failure.ok()) return answer.failure;
    if (!answer.end.ok()) return answer.end;
    net::Response response{.status = answer.status, .headers = std::move(answer.headers)};
    for (std::string& chunk : answer.chunks) response.body.emplace_back(std::move(chunk));
    return response;
  }
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, net::Request request) override {
    COX_RETURN_IF_ERROR(ctx.status());
    FakeAnswer answer = Ask(request);
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
    explicit Stream(FakeAnswer answer) : answer_(std::move(answer)) {}
    int status() const override { return answer_.status; }
    const net::Headers& headers() const override { return answer_.headers; }
    Result<Bytes> Read(Context& ctx) override {
      COX_RETURN_IF_ERROR(ctx.status());
      if (next_ < answer_.chunks.size()) return Bytes(answer_.chunks[next_++]);
      if (answer_.hold) return AwaitStop(ctx);
      if (!answer_.end.ok()) return answer_.end;
      return Bytes();
    }

   private:
    const FakeAnswer answer_;
    size_t next_ = 0;
  };

  FakeAnswer Ask(const net::Request& request) {
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
