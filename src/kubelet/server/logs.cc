// SPDX-License-Identifier: Apache-2.0
#include "coxswain/conditions.h"
#include "kubelet/logs/log_file.h"
#include "kubelet/server/body_pipe.h"
#include "kubelet/server/handlers.h"

namespace cox::kubelet {
namespace {

// Value of cri::v1::ContainerStatus::state.
constexpr int kExited = 2;

// The response; it starts with the first bytes, so that an earlier error can still be sent.
class LogResponse {
 public:
  explicit LogResponse(net::Exchange& exchange) : exchange_(exchange) {}

  void Begin() {
    if (begun_) return;
    begun_ = true;
    pipe_.SetWaker(
        exchange_.Stream(200, {{"content-type", "text/plain; charset=utf-8"}}, pipe_.Source()));
  }
  Status Write(const Context& ctx, std::string bytes) {
    Begin();
    return pipe_.Write(ctx, std::move(bytes));
  }
  bool begun() const { return begun_; }

 private:
  net::Exchange& exchange_;
  BodyPipe pipe_;
  bool begun_ = false;
};

}  // namespace

void ServeLogs(Context& ctx, const HandlerParts& parts, const NodeCall& call) {
  net::Exchange& exchange = *call.exchange;
  const Route& route = call.route;
  const auto options = ParseLogOptions(exchange.request().query(), TimeNow(ctx.clock()));
  if (!options.ok()) return exchange.Send(ErrorResponse(options.status()));
  const auto container =
      parts.pods.FindContainer(ctx, route.pod, "", route.container, options->previous);
  if (!container.ok()) return exchange.Send(ErrorResponse(container.status()));
  const auto running = [&] {
    const auto status = parts.runtime.GetContainer(ctx, container->id);
    // An unreachable runtime may be restarting; its containers keep running.
    if (!status.ok()) return !status.status().Is(Reason::kNotFound);
    return status->state < kExited;
  };
  LogResponse answer(exchange);
  // A follower gets the response headers immediately.
  if (options->follow) answer.Begin();
  const Status done = ReadLog(ctx, container->log_path, *options, running, [&](std::string bytes) {
    return answer.Write(ctx, std::move(bytes));
  });
  if (answer.begun()) return;
  if (done.ok()) {
    answer.Begin();
  } else {
    exchange.Send(ErrorResponse(done));
  }
}

}  // namespace cox::kubelet
