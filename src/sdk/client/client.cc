// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"

#include "api/meta/v1.h"
#include "sdk/client/discovery.h"
#include "sdk/client/forms.h"
#include "sdk/client/requests.h"
#include "sdk/client/response/decode_object.h"
#include "sdk/client/response/list_decoder.h"
#include "sdk/client/response/status_response.h"
#include "sdk/client/sender.h"
#include "sdk/client/watch_stream.h"

namespace cox {
namespace sdk {
namespace {

// Maximum size of an error body that is read.
constexpr size_t kMaxErrorBytes = size_t{64} * 1024;

// Attempts for a list page whose connection breaks during the response.
constexpr int kAttempts = 3;

// The server does not support the encoding: 406 for Accept, 415 for Content-Type.
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
  // `broke` is set if the connection failed after the response had begun.
  Result<meta::v1::ListMeta> ListPage(Context& ctx, const Resource& resource,
                                      const std::string& target, Shape shape,
                                      const std::function<Status(Object)>& take, bool* broke);
  Result<std::unique_ptr<WatchStream>> StartWatch(Context& ctx, const Resource& resource,
                                                  const WatchOptions& options, Shape shape);
  // Starts a streaming GET; fails unless the response has a success code.
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

// Reads the body of a failure response, up to a limit.
Status ReadFailure(Context& ctx, net::ClientStream& stream) {
  std::string body;
  while (body.size() < kMaxErrorBytes) {
    const Result<Bytes> piece = stream.Read(ctx);
    if (!piece.ok() || piece->empty()) break;  // the code is sufficient
    body.append(piece->view());
  }
  return StatusFromResponse(stream.status(), stream.headers(), body);
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
  if (response->status >= 300) return StatusFromResponse(response->status, response->headers, body);
  // The body (the deleted objects) is not used.
  if (operation.verb == Operation::Verb::kDeleteAll) return Object(meta::v1::Status::kKind);
  return DecodeResponse(body, operation.resource, operation.answer);
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
      // The version of the pages has been compacted. Pages of another version would be inconsistent
      // with the pages read so far, and paging may be too slow again: restart with a single
      // response, which has one consistent version.
      continue_token.clear();
      now.page_size = 0;
      options.on_restart();
      continue;
    }
    // A page of which no object was delivered can be requested again.
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
