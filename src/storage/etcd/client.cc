// SPDX-License-Identifier: Apache-2.0
#include "storage/etcd/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/fiber.h"
#include "base/log.h"
#include "storage/errors.h"

namespace cox::storage::etcd {
namespace {

using std::chrono::milliseconds;

// Long enough for a member restart or a leader election, short enough that callers without a
// deadline get an error if etcd is down.
constexpr milliseconds kRetryFor{2'500};
constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestPause{250};

// gRPC status codes.
enum Code : int {
  kCanceled = 1,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnavailable = 14,
};

constexpr std::string_view kNoLeader = "etcdserver: no leader";
constexpr std::string_view kLeaseNotFound = "etcdserver: requested lease not found";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Exponential backoff between attempts, limited by kRetryFor.
class RetryBackoff {
 public:
  explicit RetryBackoff(const Context& ctx) : ctx_(ctx), until_(ctx.clock().In(kRetryFor)) {}

  // False if the time is over.
  bool Pause() {
    if (ctx_.Done() || ctx_.clock().Monotonic() >= until_) return false;
    const milliseconds pause = std::exchange(next_, std::min(next_ * 2, kLongestPause));
    return ctx_.Sleep(pause).ok();
  }

 private:
  const Context& ctx_;
  const Clock::SteadyTime until_;
  milliseconds next_ = kFirstPause;
};

}  // namespace

Status StatusOf(int code, const std::string& text) {
  switch (code) {
    case kOutOfRange:
      if (Contains(text, "future revision")) return FutureRevisionError(text);
      return Status::Expired(text);
    case kInvalidArgument:
      if (Contains(text, "request is too large")) return Status::TooLarge(text);
      return Status::Internal(text);
    case kResourceExhausted:
      // The gRPC server in etcd has its own size limit.
      if (Contains(text, "larger than max")) {
        return Status::TooLarge("etcdserver: request is too large");
      }
      if (Contains(text, "too many requests")) return {Reason::kTooManyRequests, text};
      return Status::Internal(text);  // the database is full
    case kDeadlineExceeded:
      return Status::Timeout(text);
    case kUnavailable:
      if (Contains(text, "request timed out")) return Status::Timeout(text);
      return Status::Unavailable(text);
    case kCanceled:
      return Status::Unavailable(text);
    case kNotFound:
      return Status::NotFound(text);
    default:
      return Status::Internal(text);
  }
}

bool IsLeaseNotFound(const Status& status) {
  return status.Is(Reason::kNotFound) && status.message() == kLeaseNotFound;
}

Result<std::string> Client::Call(const Context& ctx, std::string_view method,
                                 const Message& request, Repeat repeat) {
  CheckMayWait();
  using Outcome = net::grpc::Reply::Outcome;
  RetryBackoff backoff(ctx);
  Status failure;
  while (true) {
    bool again = true;  // the request was not executed, or it is safe to repeat
    Result<std::shared_ptr<net::grpc::Connection>> connection = calls_->Get(ctx);
    if (!connection.ok()) {
      again = connection.status().Is(Reason::kServiceUnavailable);
      // Prefer etcd's last error to a deadline error.
      if (again || failure.ok()) failure = connection.status();
    } else {
      net::grpc::Reply reply = (*connection)->Call(ctx, method, request.framed());
      switch (reply.outcome) {
        case Outcome::kMessage:
          ReportReachable(ctx);
          return std::move(reply.message);
        case Outcome::kStopped:
          return ctx.status();
        case Outcome::kRefused:
          failure = Status::Unavailable(reply.text);
          break;
        case Outcome::kBroken:
          failure = Status::Unavailable(reply.text);
          again = repeat == Repeat::kRead;
          break;
        case Outcome::kStatus:
          failure = reply.code == 0 ? Status::Internal("etcd sent no response")
                                    : StatusOf(reply.code, reply.text);
          again = repeat == Repeat::kRead && failure.Is(Reason::kServiceUnavailable);
          if (reply.text == kNoLeader) {
            again = true;
            calls_->Avoid(*connection);
          }
          break;
      }
    }
    if (!again || !backoff.Pause()) {
      if (!connection.ok() && !ctx.Done()) ReportUnreachable(ctx, failure);
      return failure;
    }
  }
}

void Client::ReportUnreachable(const Context& ctx, const Status& failure) {
  if (reachable_.exchange(false)) {
    COX_ERROR(ctx.log(), failure, "etcd is unreachable, will retry; check --etcd-servers");
  }
}

void Client::ReportReachable(const Context& ctx) {
  // A load costs less than an exchange, and this is called for every response.
  if (!reachable_.load(std::memory_order_relaxed) && !reachable_.exchange(true)) {
    COX_INFO(ctx.log(), "etcd is reachable");
  }
}

Result<std::unique_ptr<net::grpc::MessageStream>> Client::Start(const Context& ctx,
                                                                std::string_view method) {
  RetryBackoff backoff(ctx);
  while (true) {
    Result<std::shared_ptr<net::grpc::Connection>> connection = streams_->Get(ctx);
    if (connection.ok()) return (*connection)->Start(method);
    if (!connection.status().Is(Reason::kServiceUnavailable)) return connection.status();
    if (!backoff.Pause()) return connection.status();
  }
}

}  // namespace cox::storage::etcd
