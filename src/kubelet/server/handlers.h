// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/context.h"
#include "kubelet/logs/query.h"
#include "kubelet/podworkers/pod_manager.h"
#include "kubelet/server/route.h"
#include "kubelet/server/stats/stats.h"
#include "net/server.h"
#include "runtime/runtime.h"

// The endpoints of the node's server, called after authorization. All may block.
namespace cox::kubelet {

// The components that the handlers use; they outlive the handlers.
struct HandlerParts {
  runtime::Runtime& runtime;
  PodManager& pods;
  std::string node_name;
  std::string root_dir;
  std::string machine_root;
  // A stream without data for this long is closed. 0: never.
  std::chrono::milliseconds stream_idle_timeout{0};
};

// One request.
struct NodeCall {
  net::ExchangePtr exchange;
  Route route;
  Query query;
};

net::Response TextResponse(int status, std::string text);
net::Response JsonResponse(std::string json);
// The message as text, with the HTTP status code of its reason.
net::Response ErrorResponse(const Status& status);

// --- Responses that are sent at once (pods.cc).
net::Response PodsResponse(const HandlerParts& parts);                       // /pods
net::Response RunningPodsResponse(Context& ctx, const HandlerParts& parts);  // /runningpods
net::Response RunResponse(Context& ctx, const HandlerParts& parts, const NodeCall& call);  // /run
// For /stats/summary and the container metrics.
Result<Usage> GatherUsage(Context& ctx, const HandlerParts& parts);

// --- Streamed responses: these send everything themselves and return at the end of the stream.
void ServeLogs(Context& ctx, const HandlerParts& parts, const NodeCall& call);  // logs.cc
// /exec, /attach, /portForward: upgrades the connection to the client's protocol and copies its
// bytes to and from the runtime's streaming server. SPDY or WebSocket is negotiated between the
// client and the runtime. A redirect by the runtime is neither followed nor passed on. (streams.cc)
void ServeStream(Context& ctx, const HandlerParts& parts, const NodeCall& call);

}  // namespace cox::kubelet
