// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/endpoints/streaming/node_address.h"
#include "apiserver/endpoints/streaming/proxy_headers.h"
#include "apiserver/endpoints/streaming/translate.h"
#include "apiserver/request/call.h"
#include "base/scope.h"

namespace cox::apiserver {

class Authorizer;

// Carries requests on to kubelets, and to what runs in the cluster: logs, exec, attach,
// port-forward, proxy.
//
// Each runs on threads of its own until one of its ends has ended, the server stops, or the client
//   is gone; a worker is only needed to begin one. There are at most kMaxStreams at once.
// Threads: all methods may be called concurrently.
// Ownership: keeps a call until its stream is over. Stop is implied by the destructor.
// Errors: what is returned was not answered; what goes wrong later is the answer, in upstream's
//   words.
class NodeConnector {
 public:
  static constexpr size_t kMaxStreams = 4096;

  NodeConnector(const Context& ctx, const Authorizer& authorizer, KubeletClientOptions kubelets)
      : authorizer_(authorizer), kubelets_(std::move(kubelets)), scope_(ctx, "connect") {}
  ~NodeConnector() { Stop(); }

  const KubeletClientOptions& kubelets() const { return kubelets_; }
  // Ends all streams, and returns when they have ended.
  void Stop();
  // Returns when no stream runs.
  void Wait() { scope_.Wait(); }

  // WebSockets come by GET whatever they are for: who opens one must be allowed to create, as those
  // who POST. OK for all other requests.
  Status AuthorizeUpgrade(const Call& call) const;

  // A log, from the answer to a GET. Errors of the kubelet become the API's.
  Status Log(Call& call, Backend backend);
  // The connection becomes what the client asks for, and all bytes are passed on. BadRequest for a
  // request that asks for nothing.
  Status Upgrade(Call& call, Backend backend);
  // Port-forward of kubectl: SPDY inside a WebSocket, of which the kubelet sees only the inner.
  Status Tunnel(Call& call, Backend backend);
  // Exec and attach with a WebSocket of v5 at the client's side and SPDY at the kubelet's.
  Status Translate(Call& call, Backend backend, const AskedStreams& asked);
  // Any request, by HTTP or upgrade. `front`: see ProxyFront.
  Status Proxy(Call& call, Backend backend, ProxyFront front);

 private:
  using Work = std::function<void(Context& ctx, Call& call)>;
  // Runs `work` on a thread; what it leaves unanswered has failed.
  Status Go(Call& call, Work work);

  const Authorizer& authorizer_;
  const KubeletClientOptions kubelets_;
  std::atomic<size_t> running_ = 0;
  Scope scope_;
};

// What each of them does, on a thread that may block.
void RunLog(Context& ctx, Call& call, const Backend& backend);
void RunUpgrade(Context& ctx, Call& call, const Backend& backend);
void RunTunnel(Context& ctx, Call& call, const Backend& backend);
void RunTranslated(Context& ctx, Call& call, const Backend& backend, const AskedStreams& asked);
// `to.target` may lack its path: that is the root, which clients are led to.
void RunProxy(Context& ctx, Call& call, const Backend& to, const ProxyFront& front);

// Whether the client wants port-forward as kubectl does it.
bool IsTunnelRequest(const net::Request& request);
// Whether it offers v5 of the channel protocol.
bool IsStreamCloseRequest(const net::Request& request);

// The client's upgrade for the server behind us.
net::Request UpgradeRequest(const Call& call, const Backend& backend);
// Connects; why the server refuses is the call's answer, and then there is no stream. Nor is there
// when it neither agrees nor refuses: that is an error, and what it said is not passed on.
std::unique_ptr<net::ByteStream> DialUpgrade(Context& ctx, Call& call, const Backend& backend,
                                             net::Request request, net::Headers* answer);

}  // namespace cox::apiserver
