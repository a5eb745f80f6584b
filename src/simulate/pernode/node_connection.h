// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/client.h"
#include "simulate/pernode/shard.h"

namespace cox::simulate {

// The response to a request of a node.
struct Reply {
  int code = 0;  // HTTP status; 0: there was no response
  // Protobuf without envelope; empty unless NodeRequest::wants_body.
  std::string body;

  bool ok() const { return code >= 200 && code < 300; }
};

struct NodeRequest {
  RequestKind kind = RequestKind::kLease;
  std::string method;
  std::string target;
  std::string content_type;
  std::string body;
  bool wants_body = false;  // of a successful response
};

// The connection of one node to the API server, with the node's identity.
//
// All requests and watches are streams of one HTTP/2 connection. Nothing is queued here, so a Lease
// renewal never waits for other writes.
// Threads: the loop's thread; destruction on any thread when the loop has stopped.
// Ownership: when it is destroyed, requests in flight are canceled and their `done` is not called.
class NodeConnection {
 public:
  // `client` calls its observers on the loop's thread.
  NodeConnection(Shard& shard, std::unique_ptr<net::Client> client);
  ~NodeConnection();

  using Done = std::function<void(Reply reply)>;
  // Calls `done` once: with the response, or without one when the connection breaks or after
  // kRequestTimeout.
  void Send(NodeRequest request, Done done);
  // A GET whose response goes to `observer`. Destruction of the result cancels it.
  std::unique_ptr<net::Observation> Watch(std::string target,
                                          std::shared_ptr<net::ResponseObserver> observer);

  Shard& shard() { return shard_; }

 private:
  class Call;

  Shard& shard_;
  std::shared_ptr<bool> alive_;
  const std::unique_ptr<net::Client> client_;
};

// A kubelet gives up a request after this time.
inline constexpr std::chrono::seconds kRequestTimeout{10};

inline constexpr int kHttpOk = 200;
inline constexpr int kHttpNotFound = 404;
inline constexpr int kHttpConflict = 409;
inline constexpr int kHttpGone = 410;
inline constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

}  // namespace cox::simulate
