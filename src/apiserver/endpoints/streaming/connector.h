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
#include "object/validation/ip.h"

namespace cox::apiserver {

class Authorizer;

// The endpoints at which this API server can be reached. A Node or Pod must not make it call
// itself.
struct OwnEndpoints {
  std::function<uint16_t()> port;  // null: the server does not listen
  // The Service "kubernetes" has an address in the first of these ranges.
  std::vector<validation::Cidr> service_ranges;

  bool Contain(const std::string& ip, uint16_t port) const;
};

// Forwards requests to kubelets and to pods and services: logs, exec, attach, port-forward, proxy.
//
// Each stream runs on its own threads until one side closes, the server stops, or the client
// disconnects; a worker is only needed to start it. At most kMaxStreams run at the same time.
// Threads: all methods may be called concurrently.
// Ownership: keeps a call alive until its stream has ended. The destructor calls Stop.
// Errors: if a method returns an error, no response has been sent. Later errors are sent as the
//   response, with upstream's texts.
class NodeConnector {
 public:
  static constexpr size_t kMaxStreams = 4096;

  NodeConnector(const Context& ctx, const Authorizer& authorizer, KubeletClientOptions kubelets,
                OwnEndpoints own = {})
      : authorizer_(authorizer),
        kubelets_(std::move(kubelets)),
        own_(std::move(own)),
        scope_(ctx, "connect") {}
  ~NodeConnector() { Stop(); }

  const KubeletClientOptions& kubelets() const { return kubelets_; }
  // For connections to a kubelet: excludes this API server, to which a Node could direct requests
  // with the kubelet client certificate.
  net::AddressFilter KubeletAddresses() const;
  // For the proxy subresources: excludes also loopback, link-local and multicast addresses.
  net::AddressFilter ProxyAddresses() const;
  // Closes all streams and waits until they have ended.
  void Stop();
  // Waits until no stream is running.
  void Wait() { scope_.Wait(); }

  // For exec, attach and port-forward: whatever the method and the protocol, the client must be
  // allowed to `create` the subresource. The filter chain has checked the verb of the method, which
  // is `get` for a WebSocket.
  Status AuthorizeUpgrade(const Call& call) const;

  // Streams a log from the kubelet's response to a GET. Kubelet errors become API errors.
  Status Log(Call& call, Backend backend);
  // Upgrades the connection to the protocol that the client requests and forwards all bytes.
  // Returns BadRequest for a request without an upgrade.
  Status Upgrade(Call& call, Backend backend);
  // Port-forward of kubectl: SPDY tunneled in a WebSocket. The kubelet receives only the SPDY
  // stream.
  Status Tunnel(Call& call, Backend backend);
  // Exec and attach: translates the client's WebSocket (v5) to SPDY for the kubelet.
  Status Translate(Call& call, Backend backend, const StreamOptions& options);
  // Proxies any HTTP request or upgrade. `front`: see ProxyFront.
  Status Proxy(Call& call, Backend backend, ProxyFront front);

 private:
  using Work = std::function<void(Context& ctx, Call& call)>;
  // Runs `work` on a thread. If `work` sends no response, an error is sent.
  Status Go(Call& call, Work work);

  const Authorizer& authorizer_;
  const KubeletClientOptions kubelets_;
  const OwnEndpoints own_;
  std::atomic<size_t> running_ = 0;
  Scope scope_;
};

// The implementations. They run on a thread that may block.
void RunLog(Context& ctx, Call& call, const Backend& backend);
void RunUpgrade(Context& ctx, Call& call, const Backend& backend);
void RunTunnel(Context& ctx, Call& call, const Backend& backend);
void RunTranslated(Context& ctx, Call& call, const Backend& backend, const StreamOptions& options);
// `to.target` may have no path; the client is then redirected to the root path.
void RunProxy(Context& ctx, Call& call, const Backend& to, const ProxyFront& front);

// Reports whether the client requests port-forward over a WebSocket tunnel.
bool IsTunnelRequest(const net::Request& request);
// Reports whether the client offers v5 of the channel protocol.
bool IsStreamCloseRequest(const net::Request& request);

// The client's upgrade request, rewritten for the backend.
net::Request UpgradeRequest(const Call& call, const Backend& backend);
// Connects and upgrades. If the backend rejects the upgrade, its response is sent to the client and
// null is returned. If the backend responds neither with an upgrade nor with an error, an error is
// sent, and the backend's response is dropped.
std::unique_ptr<net::ByteStream> DialUpgrade(Context& ctx, Call& call, const Backend& backend,
                                             net::Request request, net::Headers* answer);

}  // namespace cox::apiserver
