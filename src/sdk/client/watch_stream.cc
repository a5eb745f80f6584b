// SPDX-License-Identifier: Apache-2.0
#include "sdk/client/watch_stream.h"

#include "sdk/client/response/stored_events.h"
#include "sdk/client/response/watch_decoder.h"

namespace cox::sdk {
namespace {

class ServerWatch final : public WatchStream {
 public:
  ServerWatch(std::unique_ptr<net::ClientStream> stream, ObjectForm form, Format format)
      : stream_(std::move(stream)), info_(form.info), decoder_(std::move(form), format) {}

  StoredEventStream* stored_events() override {
    auto* const events =
        stream_ == nullptr ? nullptr : dynamic_cast<StoredEventStream*>(stream_->content());
    return events != nullptr && info_ == &events->kind() ? events : nullptr;
  }

  Result<WatchEvent<Object>> Next(Context& ctx) override {
    while (end_.ok()) {
      std::optional<WatchEvent<Object>> event = Decode();
      if (event) return *std::move(event);
      if (!end_.ok()) break;
      // A stopped context does not end the watch: the next call may use another context.
      COX_RETURN_IF_ERROR(ctx.status());
      const Result<Bytes> piece = stream_->Read(ctx);
      if (!piece.ok() && ctx.Done()) return ctx.status();
      Feed(piece);
    }
    stream_.reset();
    return end_;
  }

  Result<std::optional<WatchEvent<Object>>> TryNext(const std::function<void()>& ready) override {
    while (end_.ok()) {
      std::optional<WatchEvent<Object>> event = Decode();
      if (event) return event;
      if (!end_.ok()) break;
      Result<std::optional<Bytes>> piece = stream_->TryRead(ready);
      if (piece.ok() && !piece->has_value()) return std::optional<WatchEvent<Object>>();
      Feed(piece.ok() ? Result<Bytes>(**std::move(piece)) : piece.status());
    }
    stream_.reset();
    return end_;
  }

 private:
  // The next complete event, if any. Sets `end_` after an error.
  std::optional<WatchEvent<Object>> Decode() {
    Result<std::optional<WatchEvent<Object>>> event = decoder_.Next();
    if (event.ok()) return *std::move(event);
    end_ = event.status();
    return std::nullopt;
  }
  void Feed(const Result<Bytes>& piece) {
    if (!piece.ok()) {
      end_ = piece.status();
    } else if (!piece->empty()) {
      decoder_.Feed(piece->view());
    } else {
      end_ = decoder_.between() ? EndOfWatch()
                                : Status::Unavailable("the watch ended within an event");
    }
  }

  std::unique_ptr<net::ClientStream> stream_;  // null after the end
  const KindInfo* const info_;                 // of the objects; null for JSON values
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
