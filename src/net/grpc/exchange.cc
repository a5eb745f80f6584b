// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/exchange.h"

#include <algorithm>
#include <utility>

namespace cox::net::grpc::internal {

Reply Exchange::Ending(Reply::Outcome outcome) const {
  Reply reply;
  reply.outcome = outcome;
  if (outcome == Reply::Outcome::kRefused) {
    reply.text = "the server did not take the call";
    return reply;
  }
  if (grpc_status >= 0) {  // the server's status wins, however the stream ended
    reply.outcome = Reply::Outcome::kStatus;
    reply.code = grpc_status;
    reply.text = grpc_message;
    return reply;
  }
  reply.outcome = Reply::Outcome::kBroken;
  reply.text = http_status != 0 && http_status != 200
                   ? "the server answered with the HTTP status " + std::to_string(http_status)
                   : "the connection was closed";
  return reply;
}

Reply CallExchange::TakeReply() {
  Reply reply = Ending(outcome);
  if (reply.outcome == Reply::Outcome::kStatus && reply.code == 0 && complete) {
    reply.outcome = Reply::Outcome::kMessage;
    reply.message = std::move(response);
  }
  return reply;
}

void CallExchange::NotifyDone(const std::vector<CallExchange*>& calls) {
  for (CallExchange* call : calls) {
    if (call->on_done) {
      const std::function<void()> done = call->on_done;  // destroys the call
      done();
      continue;
    }
    MutexLock lock(call->mu);
    call->done = true;
    call->changed.NotifyOne();
  }
}

bool StreamExchange::Data(std::string_view bytes) {
  MutexLock lock(mu);
  bool news = false;
  const bool good = assembler_.Append(bytes, [&](std::string message) {
    mu.AssertHeld();
    waiting += message.size();
    messages.push_back(std::move(message));
    news = true;
  });
  if (news) changed.NotifyAll();
  return good;
}

void StreamExchange::End(const Reply& reply) {
  MutexLock lock(mu);
  ended = true;
  end = reply;
  changed.NotifyAll();
}

}  // namespace cox::net::grpc::internal
