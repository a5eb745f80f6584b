// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "coxswain/pod_streams.h"
#include "sdk/client/response/status_response.h"
#include "sdk/streams/pod_request.h"

namespace cox {
namespace {

constexpr size_t kMaxLine = size_t{1} * 1024 * 1024;
constexpr size_t kMaxError = size_t{64} * 1024;

class PodLogs final : public LogStream {
 public:
  explicit PodLogs(std::unique_ptr<net::ClientStream> stream) : stream_(std::move(stream)) {}

  Result<Bytes> Read(Context& ctx) override {
    if (!line_.empty()) return Bytes(std::exchange(line_, {}));
    if (!rest_.empty()) return std::exchange(rest_, {});
    return stream_->Read(ctx);
  }

  Result<std::optional<std::string>> ReadLine(Context& ctx) override {
    for (;;) {
      const size_t end = rest_.view().find('\n');
      const size_t size = std::min(end, rest_.size());
      if (end != std::string_view::npos || line_.size() + size >= kMaxLine) {
        const size_t take = std::min(size, kMaxLine - line_.size());
        line_.append(rest_.view().substr(0, take));
        rest_ = rest_.Slice(take == end ? take + 1 : take);
        return std::optional<std::string>(std::exchange(line_, {}));
      }
      line_.append(std::exchange(rest_, {}).view());  // before Read, which may fail
      COX_ASSIGN_OR_RETURN(rest_, stream_->Read(ctx));
      if (!rest_.empty()) continue;
      if (line_.empty()) return std::optional<std::string>();
      return std::optional<std::string>(std::exchange(line_, {}));  // last line without a newline
    }
  }

 private:
  const std::unique_ptr<net::ClientStream> stream_;
  Bytes rest_;  // received but not returned yet
  std::string line_;
};

// Converts an error response to a Status.
Status RejectionStatus(Context& ctx, net::ClientStream& stream) {
  std::string body;
  while (body.size() < kMaxError) {
    const Result<Bytes> piece = stream.Read(ctx);
    if (!piece.ok() || piece->empty()) break;
    body += piece->view();
  }
  return sdk::StatusFromResponse(stream.status(), stream.headers(), body);
}

void AddNumber(std::string_view name, const std::optional<int64_t>& value,
               sdk::PodRequest* request) {
  if (value) request->Add(name, std::to_string(*value));
}

}  // namespace

Result<std::unique_ptr<LogStream>> Logs(Context& ctx, Client& client, const ObjectKey& pod,
                                        const LogOptions& options) {
  COX_ASSIGN_OR_RETURN(sdk::PodRequest request, sdk::PodRequest::To(pod, "log"));
  request.AddText("container", options.container)
      .AddFlag("follow", options.follow)
      .AddFlag("previous", options.previous)
      .AddFlag("timestamps", options.timestamps);
  AddNumber("sinceSeconds", options.since_seconds, &request);
  if (options.since_time) request.Add("sinceTime", options.since_time->ToString());
  AddNumber("tailLines", options.tail_lines, &request);
  AddNumber("limitBytes", options.limit_bytes, &request);
  net::Request ready = std::move(request).Take();
  ready.headers.Add("accept", "text/plain, application/json, */*");
  COX_ASSIGN_OR_RETURN(auto stream, client.transport().Start(ctx, std::move(ready)));
  if (stream->status() != 200) return RejectionStatus(ctx, *stream);
  return std::make_unique<PodLogs>(std::move(stream));
}

}  // namespace cox
