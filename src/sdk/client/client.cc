// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"

#include "api/meta/v1.h"
#include "sdk/client/answer/decode_object.h"
#include "sdk/client/answer/list_decoder.h"
#include "sdk/client/answer/status_answer.h"
#include "sdk/client/discovery.h"
#include "sdk/client/forms.h"
#include "sdk/client/requests.h"
#include "sdk/client/sender.h"
#include "sdk/client/watch_stream.h"

namespace cox {
namespace sdk {
namespace {

// An error's text is read to here; more is not for us.
constexpr size_t kMaxErrorBytes = size_t{64} * 1024;

// Of a page of a list whose connection breaks within the answer.
constexpr int kAttempts = 3;

// The server has no such form: 406 to what we accept, 415 to what we send.
bool WrongForm(int code) { return code == 406 || code == 415; }

class EngineClient final : public Client {
 public:
  EngineClient(std::shared_ptr<Transport> transport, const Config& config,
               std::shared_ptr<ClientMetrics> metrics)
      : default_namespace_(config.ns),
        sender_(std::move(transport), config, std::move(metrics)),
        forms_(config.prefer_protobuf),
        discovery_(sender_) {}

  Result<Object> Execute(Context& ctx, const Operation& operation) override;
  Result<std::string> ListEach(Context& ctx, const Resource& resource, const ListOptions& options,
                               const std::function<Status(Object)>& take) override {
    return ListPages(ctx, resource, options, Shape::kWhole, take);
  }
  Result<std::unique_ptr<WatchStream>> Watch(Context& ctx, const Resource& resource,
                                             const WatchOptions& options) override {
    return StartWatch(ctx, resource, options, Shape::kWhole);
  }
  Result<std::string> ListMetadata(Context& ctx, const Resource& resource,
                                   const ListOptions& options,
                                   const std::function<Status(Object)>& take) override {
    return ListPages(ctx, resource, options, Shape::kMetadataList, take);
  }
  Result<std::unique_ptr<WatchStream>> WatchMetadata(Context& ctx, const Resource& resource,
                                                     const WatchOptions& options) override {
    return StartWatch(ctx, resource, options, Shape::kMetadata);
  }
  Result<Resource> Discover(Context& ctx, const GroupVersionKind& gvk) override {
    return discovery_.Find(ctx, gvk);
  }
  Transport& transport() override { return sender_.transport(); }
  const std::string& default_namespace() const override { return default_namespace_; }

 private:
  net::Request NewRequest(std::string_view method, const std::string& target,
                          std::string_view accept) const {
    net::Request request{.method = std::string(method), .target = target};
    request.headers.Add("accept", std::string(accept));
    request.headers.Add("user-agent", sender_.user_agent());
    return request;
  }
  Result<net::Response> Send(Context& ctx, const Operation& operation, const std::string& target,
                             Format format);
  Result<std::string> ListPages(Context& ctx, const Resource& resource, const ListOptions& options,
                                Shape shape, const std::function<Status(Object)>& take);
  // `broke`: the answer had begun, and its connection did not last.
  Result<meta::v1::ListMeta> ListPage(Context& ctx, const Resource& resource,
                                      const std::string& target, Shape shape,
                                      const std::function<Status(Object)>& take, bool* broke);
  Result<std::unique_ptr<WatchStream>> StartWatch(Context& ctx, const Resource& resource,
                                                  const WatchOptions& options, Shape shape);
  // A GET whose answer is read as it comes: only if it is one of success.
  Result<std::unique_ptr<net::ClientStream>> Start(Context& ctx, const Resource& resource,
                                                   const std::string& target, Shape shape);
  Format FormatOf(const Resource& resource, Shape shape) const {
    return shape == Shape::kWhole ? forms_.Of(resource) : forms_.OfMetadata(resource);
  }

  const std::string default_namespace_;
  Sender sender_;
  Forms forms_;
  Discovery discovery_;
};

ObjectForm FormOf(const Resource& resource, Shape shape) {
  if (shape == Shape::kWhole) return {resource.gvk, resource.info};
  return {{"meta.k8s.io", "v1", "PartialObjectMetadata"}, &meta::v1::PartialObjectMetadata::kKind};
}

// The rest of an answer of failure, as far as it is of use.
Status ReadFailure(Context& ctx, net::ClientStream& stream) {
  std::string body;
  while (body.size() < kMaxErrorBytes) {
    const Result<Bytes> piece = stream.Read(ctx);
    if (!piece.ok() || piece->empty()) break;  // the code says enough
    body.append(piece->view());
  }
  return StatusFromAnswer(stream.status(), stream.headers(), body);
}

Result<net::Response> EngineClient::Send(Context& ctx, const Operation& operation,
                                         const std::string& target, Format format) {
  return sender_.Do(ctx, [&] {
    net::Request request =
        NewRequest(MethodOf(operation.verb), target, AcceptHeader(format, Shape::kWhole));
    Body body = BodyOf(operation, format);
    if (!body.content_type.empty()) {
      request.headers.Add("content-type", std::string(body.content_type));
      request.body = std::move(body.text);
    }
    for (const auto& [name, value] : operation.headers) request.headers.Add(name, value);
    return request;
  });
}

Result<Object> EngineClient::Execute(Context& ctx, const Operation& operation) {
  COX_ASSIGN_OR_RETURN(const std::string target, TargetOf(operation));
  const Format format = forms_.Of(operation.resource);
  Result<net::Response> response = Send(ctx, operation, target, format);
  if (response.ok() && WrongForm(response->status) && format == Format::kProtobuf) {
    forms_.UseJson(operation.resource);
    response = Send(ctx, operation, target, Format::kJson);
  }
  if (!response.ok()) return response.status();
  std::string storage;
  const std::string_view body = Join(response->body, &storage);
  if (response->status >= 300) return StatusFromAnswer(response->status, response->headers, body);
  // Whatever the answer to it is (a list of what was deleted), nobody asks.
  if (operation.verb == Operation::Verb::kDeleteAll) return Object(meta::v1::Status::kKind);
  return DecodeAnswer(body, operation.resource, operation.answer);
}

Result<std::unique_ptr<net::ClientStream>> EngineClient::Start(Context& ctx,
                                                               const Resource& resource,
                                                               const std::string& target,
                                                               Shape shape) {
  Format format = FormatOf(resource, shape);
  while (true) {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<net::ClientStream> stream, sender_.Start(ctx, [&] {
      return NewRequest("GET", target, AcceptHeader(format, shape));
    }));
    if (stream->status() < 300) return stream;
    if (!WrongForm(stream->status()) || format == Format::kJson) return ReadFailure(ctx, *stream);
    forms_.UseJson(resource);
    format = Format::kJson;
  }
}

Result<meta::v1::ListMeta> EngineClient::ListPage(Context& ctx, const Resource& resource,
                                                  const std::string& target, Shape shape,
                                                  const std::function<Status(Object)>& take,
                                                  bool* broke) {
  Context limited = sender_.Limited(ctx);
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<net::ClientStream> stream,
                       Start(limited, resource, target, shape));
  ListDecoder decoder(FormOf(resource, shape));
  while (true) {
    const Result<Bytes> piece = stream->Read(limited);
    *broke = piece.status().Is(Reason::kServiceUnavailable) && !limited.Done();
    if (!piece.ok()) return piece.status();
    if (!piece->empty()) {
      COX_RETURN_IF_ERROR(decoder.Feed(piece->view(), take));
      continue;
    }
    Result<meta::v1::ListMeta> meta = decoder.Finish();
    *broke = meta.status().Is(Reason::kServiceUnavailable);
    return meta;
  }
}

Result<std::string> EngineClient::ListPages(Context& ctx, const Resource& resource,
                                            const ListOptions& options, Shape shape,
                                            const std::function<Status(Object)>& take) {
  ListOptions now = options;
  std::string continue_token;
  bool given = false;
  const auto count = [&](Object object) {
    given = true;
    return take(std::move(object));
  };
  for (int failures = 0;;) {
    given = false;
    bool broke = false;
    Result<meta::v1::ListMeta> meta =
        ListPage(ctx, resource, ListTarget(resource, now, continue_token), shape, count, &broke);
    if (meta.ok()) {
      if (meta->continue_.empty()) return std::move(meta->resourceVersion);
      continue_token = std::move(meta->continue_);
      failures = 0;
      continue;
    }
    if (meta.status().Is(Reason::kExpired) && !continue_token.empty() && options.on_restart) {
      // The version that the pages are of has been compacted. Pages of another would miss what
      // moved between them, and a list that took too long in pages would again: begin anew, with
      // one answer that is of one version whole.
      continue_token.clear();
      now.page_size = 0;
      options.on_restart();
      continue;
    }
    // A page of which nothing was given yet can be asked for again.
    const bool again = broke && !given && ++failures < kAttempts;
    if (!again) return meta.status();
  }
}

Result<std::unique_ptr<WatchStream>> EngineClient::StartWatch(Context& ctx,
                                                              const Resource& resource,
                                                              const WatchOptions& options,
                                                              Shape shape) {
  COX_ASSIGN_OR_RETURN(std::unique_ptr<net::ClientStream> stream,
                       Start(ctx, resource, WatchTarget(resource, options), shape));
  return MakeWatchStream(std::move(stream), FormOf(resource, shape));
}

}  // namespace
}  // namespace sdk

std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config) {
  return MakeClient(std::move(transport), config, nullptr);
}

std::unique_ptr<Client> MakeClient(std::shared_ptr<Transport> transport, const Config& config,
                                   std::shared_ptr<ClientMetrics> metrics) {
  return std::make_unique<sdk::EngineClient>(std::move(transport), config, std::move(metrics));
}

}  // namespace cox
