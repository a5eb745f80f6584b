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

// What the endpoints of the node's server do, once a request was let in. All may block.
namespace cox::kubelet {

// What they are made of; all of it outlives them.
struct HandlerParts {
  runtime::Runtime& runtime;
  PodManager& pods;
  std::string node_name;
  std::string root_dir;
  std::string machine_root;
};

// One request.
struct NodeCall {
  net::ExchangePtr exchange;
  Route route;
  Query query;
};

net::Response TextResponse(int status, std::string text);
net::Response JsonResponse(std::string json);
// The message as text, with the code of its reason.
net::Response ErrorResponse(const Status& status);

// --- Answered at once (pods.cc).
net::Response PodsAnswer(const HandlerParts& parts);                       // /pods
net::Response RunningPodsAnswer(Context& ctx, const HandlerParts& parts);  // /runningpods
net::Response RunAnswer(Context& ctx, const HandlerParts& parts, const NodeCall& call);  // /run
// Of /stats/summary and the metrics of containers.
Result<Usage> GatherUsage(Context& ctx, const HandlerParts& parts);

// --- Answered as it comes: they send everything themselves, and return when it is over.
void ServeLogs(Context& ctx, const HandlerParts& parts, const NodeCall& call);  // logs.cc
// /exec, /attach, /portForward: the connection becomes whatever the client asks for, and its bytes
// go to the runtime's own streaming server and back. Whether that is SPDY or a WebSocket is between
// the two. A redirect of the runtime's is not followed nor passed on. (streams.cc)
void ServeStream(Context& ctx, const HandlerParts& parts, const NodeCall& call);

}  // namespace cox::kubelet
