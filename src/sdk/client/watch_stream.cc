// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/watch_stream.h"

#include "sdk/client/response/watch_decoder.h"

namespace cox::sdk {
namespace {

class ServerWatch final : public WatchStream {
 public:
  ServerWatch(std::unique_ptr<net::ClientStream> stream, ObjectForm form, Format format)
      : stream_(std::move(stream)), decoder_(std::move(form), format) {}

  Result<WatchEvent<Object>> Next(Context& ctx) override {
    while (end_.ok()) {
      Result<std::optional<WatchEvent<Object>>> event = decoder_.Next();
      if (event.ok() && *event) return std::move(**event);
      if (!event.ok()) {
        end_ = event.status();
        break;
      }
      // A stopped context does not end the watch: the next call may use another context.
      COX_RETURN_IF_ERROR(ctx.status());
      const Result<Bytes> piece = stream_->Read(ctx);
      if (!piece.ok()) {
        if (ctx.Done()) return ctx.status();
        end_ = piece.status();
      } else if (!piece->empty()) {
        decoder_.Feed(piece->view());
      } else {
        end_ = decoder_.between() ? EndOfWatch()
                                  : Status::Unavailable("the watch ended within an event");
      }
    }
    stream_.reset();
    return end_;
  }

 private:
  std::unique_ptr<net::ClientStream> stream_;  // null after the end
  WatchDecoder decoder_;
  Status end_;  // why the watch ended
};

}  // namespace

std::unique_ptr<WatchStream> MakeWatchStream(std::unique_ptr<net::ClientStream> stream,
                                             ObjectForm form) {
  const std::string_view type = stream->headers().Get("content-type").value_or("");
  const Format format =
      type.starts_with(MediaType(Format::kProtobuf)) ? Format::kProtobuf : Format::kJson;
  return std::make_unique<ServerWatch>(std::move(stream), std::move(form), format);
}

}  // namespace cox::sdk
