// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/sender.h"

#include <cerrno>
#include <optional>

#include "base/strings.h"
#include "sdk/client/retry.h"

namespace cox::sdk {
namespace {

int CodeOf(const net::Response& response) { return response.status; }
int CodeOf(const std::unique_ptr<net::ClientStream>& stream) { return stream->status(); }
const net::Headers& HeadersOf(const net::Response& response) { return response.headers; }
const net::Headers& HeadersOf(const std::unique_ptr<net::ClientStream>& stream) {
  return stream->headers();
}

// The server uses the part before the slash as the default field manager.
std::string UserAgent(const Config& config) {
  if (!config.user_agent.empty()) return config.user_agent;
  return std::string(program_invocation_short_name) + "/v0 coxswain-sdk";
}

// "10.0.0.1:6443", as in client-go's metrics.
std::string HostOf(const std::string& server) {
  const size_t scheme = server.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  return server.substr(begin, server.find('/', begin) - begin);
}

}  // namespace

Sender::Sender(std::shared_ptr<Transport> transport, const Config& config,
               std::shared_ptr<ClientMetrics> metrics)
    : transport_(std::move(transport)),
      retry_for_(config.retry_for),
      timeout_(config.timeout),
      user_agent_(UserAgent(config)),
      meter_(std::move(metrics), HostOf(config.server)) {}

template <class Answer, class Send>
Result<Answer> Sender::SendWithRetries(Context& ctx, const MakeRequest& make, const Send& send) {
  std::optional<Retry> retry;
  while (true) {
    net::Request request = make();
    const std::string method = request.method;
    const bool once = request.headers.Get(kSendOnce).has_value();
    if (once) request.headers.Remove(kSendOnce);
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    if (!retry) retry.emplace(ctx, retry_for_, method == "GET");
    Result<Answer> answer = send(std::move(request));
    const int code = answer.ok() ? CodeOf(*answer) : 0;
    if (meter_.enabled()) meter_.Count(method, code, ctx.clock().Monotonic() - began);
    if (answer.ok()) warnings_.Note(ctx, HeadersOf(*answer));
    if (once) return answer;
    const std::optional<Clock::Duration> wait =
        answer.ok() ? retry->DelayAfterResponse(code, HeadersOf(*answer))
                    : retry->AfterFailure(answer.status());
    if (!wait) return answer;
    COX_V(ctx.log(), 4, "Retrying request", {"method", method}, {"code", code},
          {"after", FormatDuration(*wait)});
    meter_.CountRetry(method, code);
    COX_RETURN_IF_ERROR(ctx.Sleep(*wait));
  }
}

Result<net::Response> Sender::Do(Context& ctx, const MakeRequest& make) {
  Context limited = Limited(ctx);
  return SendWithRetries<net::Response>(limited, make, [&](net::Request request) {
    return transport_->Do(limited, std::move(request));
  });
}

Result<std::unique_ptr<net::ClientStream>> Sender::Start(Context& ctx, const MakeRequest& make) {
  return SendWithRetries<std::unique_ptr<net::ClientStream>>(
      ctx, make, [&](net::Request request) { return transport_->Start(ctx, std::move(request)); });
}

}  // namespace cox::sdk
