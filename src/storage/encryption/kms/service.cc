// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/kms/service.h"

#include <utility>

#include "base/strings.h"
#include "net/grpc/channel.h"

namespace cox::storage::kms {
namespace {

// The names of the gRPC status codes.
constexpr std::string_view kCodes[] = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};
constexpr int kDeadlineExceeded = 4;
constexpr int kUnavailable = 14;

std::string_view CodeName(int code) {
  return code >= 0 && code < static_cast<int>(std::size(kCodes)) ? kCodes[code] : "Unknown";
}

Status RpcError(int code, std::string_view text) {
  std::string message =
      "rpc error: code = " + std::string(CodeName(code)) + " desc = " + std::string(text);
  if (code == kUnavailable || code == kDeadlineExceeded) {
    return cox::Status::Unavailable(std::move(message));
  }
  return cox::Status::Internal(std::move(message));
}

class GrpcService final : public Service {
 public:
  GrpcService(ServiceOptions options, std::unique_ptr<net::grpc::Channel> channel,
              EncryptionMetrics* metrics)
      : options_(std::move(options)), channel_(std::move(channel)), metrics_(metrics) {}

  Result<PluginStatus> Status(const Context& ctx) override {
    COX_ASSIGN_OR_RETURN(const KeyBytes answer, Call(ctx, kStatus, StatusRequest()));
    return DecodeStatus(answer.view());
  }
  Result<WrappedKey> Encrypt(const Context& ctx, const KeyBytes& key,
                             std::string_view uid) override {
    const KeyBytes request = EncryptRequest(key, uid);
    COX_ASSIGN_OR_RETURN(const KeyBytes answer, Call(ctx, kEncrypt, request.view()));
    return DecodeEncrypt(answer.view());
  }
  Result<KeyBytes> Decrypt(const Context& ctx, const WrappedKey& key,
                           std::string_view uid) override {
    COX_ASSIGN_OR_RETURN(const KeyBytes answer, Call(ctx, kDecrypt, DecryptRequest(key, uid)));
    return DecodeDecrypt(answer.view());
  }

 private:
  // Returns the encoded response, which may contain a key.
  Result<KeyBytes> Call(const Context& ctx, std::string_view method, std::string_view request) {
    const Clock::SteadyTime began = ctx.clock().Monotonic();
    const Context limited = ctx.WithTimeout(options_.timeout);
    int code = 0;
    Result<KeyBytes> answer = Attempt(limited, method, request, &code);
    if (metrics_ != nullptr) {
      metrics_->KmsCall(options_.name, method, CodeName(code), ctx.clock().Monotonic() - began);
    }
    return answer;
  }

  // After a restart of the plugin, the first call on the old connection fails. A retry is safe for
  // all methods.
  Result<KeyBytes> Attempt(const Context& ctx, std::string_view method, std::string_view request,
                           int* code) {
    using Outcome = net::grpc::Reply::Outcome;
    std::string failure;
    for (int attempt = 0; attempt < 2; ++attempt) {
      Result<std::shared_ptr<net::grpc::Connection>> connection = channel_->Get(ctx);
      if (!connection.ok()) {
        *code = ctx.Done() ? kDeadlineExceeded : kUnavailable;
        return RpcError(*code, connection.status().message());
      }
      net::grpc::Reply reply = (*connection)->Call(ctx, method, request);
      switch (reply.outcome) {
        case Outcome::kMessage:
          *code = 0;
          return KeyBytes(std::move(reply.message));
        case Outcome::kStatus:
          *code = reply.code == 0 ? 13 : reply.code;
          return RpcError(*code, reply.text);
        case Outcome::kStopped:
          *code = kDeadlineExceeded;
          return RpcError(*code, "context deadline exceeded");
        case Outcome::kRefused:
        case Outcome::kBroken:
          failure = std::move(reply.text);
      }
    }
    *code = kUnavailable;
    return RpcError(*code, failure);
  }

  const ServiceOptions options_;
  const std::unique_ptr<net::grpc::Channel> channel_;
  EncryptionMetrics* const metrics_;
};

}  // namespace

Result<std::string> SocketPath(std::string_view endpoint) {
  COX_ASSIGN_OR_RETURN(const net::grpc::Endpoint parsed, net::grpc::Endpoint::Unix(endpoint));
  return parsed.unix_path;
}

Result<std::unique_ptr<Service>> Connect(const Context& ctx, const ServiceOptions& options,
                                         EncryptionMetrics* metrics) {
  net::grpc::Channel::Options channel_options;
  COX_ASSIGN_OR_RETURN(const net::grpc::Endpoint endpoint,
                       net::grpc::Endpoint::Unix(options.endpoint));
  channel_options.endpoints = {endpoint};
  channel_options.connection.dial_timeout = options.timeout;
  COX_ASSIGN_OR_RETURN(std::unique_ptr<net::grpc::Channel> channel,
                       net::grpc::Channel::Create(ctx, "kms-rpc", std::move(channel_options)));
  return std::make_unique<GrpcService>(options, std::move(channel), metrics);
}

}  // namespace cox::storage::kms
