// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <utility>

#include "base/mutex.h"
#include "base/scope.h"
#include "coxswain/pod_streams.h"
#include "net/tcp.h"

namespace cox {
namespace {

constexpr size_t kBuffer = 32 * 1024;
// The protocol has no half-close. After the local end has closed, the connection is closed when the
// Pod has sent nothing for this long.
constexpr std::chrono::seconds kHalfClosed{10};

// Relays one connection between a local socket and the Pod.
class Relay {
 public:
  Relay(Context& ctx, net::TcpSocket& local, PortStream& pod)
      : context_(ctx.Child()), local_(local), pod_(pod) {}

  // Returns when the connection has ended. Unavailable, with the reason, if the Pod's side failed.
  Status Run() {
    Scope scope(context_, "forward");
    COX_RETURN_IF_ERROR(scope.Go("to-pod", [this](Context& ctx) { ToPod(ctx); }));
    Status status = FromPod();
    context_.Stop();
    scope.Stop();
    return status;
  }

 private:
  Status FromPod() {
    for (;;) {
      const Result<Bytes> bytes = pod_.Read(context_);
      if (!bytes.ok()) return context_.Done() ? Status() : bytes.status();
      if (bytes->empty()) break;
      received_.fetch_add(1, std::memory_order_relaxed);
      if (!local_.Write(context_, bytes->view()).ok()) return {};  // the local end has closed
    }
    local_.EndWriting();
    return {};
  }

  void ToPod(Context& ctx) {
    std::string buffer(kBuffer, '\0');
    for (;;) {
      const Result<size_t> got = local_.Read(ctx, buffer.data(), buffer.size());
      if (!got.ok()) return context_.Stop();
      if (*got == 0) break;
      if (!pod_.Write(ctx, std::string_view(buffer).substr(0, *got)).ok()) return;
    }
    for (uint64_t seen = ~uint64_t{0}; seen != received_.load(std::memory_order_relaxed);) {
      seen = received_.load(std::memory_order_relaxed);
      if (!ctx.Sleep(kHalfClosed).ok()) return;
    }
    context_.Stop();
  }

  Context context_;
  net::TcpSocket& local_;
  PortStream& pod_;
  std::atomic<uint64_t> received_ = 0;  // number of pieces
};

class Forwarder final : public PortForwarder {
 public:
  Forwarder(const Context& ctx, Client& client, ObjectKey pod, size_t max_connections)
      : client_(client),
        pod_(std::move(pod)),
        max_connections_(max_connections),
        scope_(ctx, "port-forward") {}
  ~Forwarder() override { scope_.Stop(); }

  Status Listen(const std::string& address, const std::vector<PortMapping>& ports) {
    for (const PortMapping& wanted : ports) {
      if (wanted.remote == 0) return Status::BadRequest("port-forward needs a port");
      COX_ASSIGN_OR_RETURN(auto listener, net::TcpListener::Listen(address, wanted.local));
      ports_.push_back({.local = listener->port(), .remote = wanted.remote});
      listeners_.push_back(std::move(listener));
    }
    for (size_t i = 0; i < ports_.size(); ++i) {
      COX_RETURN_IF_ERROR(scope_.Go("accept", [this, i](Context& ctx) { Accept(ctx, i); }));
    }
    return {};
  }

  const std::vector<PortMapping>& ports() const override { return ports_; }

 private:
  void Accept(Context& ctx, size_t index) {
    for (;;) {
      {
        MutexLock lock(mu_);
        if (!ctx.Await(mu_, ended_,
                       [this]() COX_REQUIRES(mu_) { return connections_ < max_connections_; })
                 .ok()) {
          return;
        }
        ++connections_;
      }
      auto accepted = listeners_[index]->Accept(ctx);
      if (!accepted.ok()) {
        Ended();
        if (ctx.Done()) return;
        // Probably out of file descriptors, which is transient.
        COX_WARNING(ctx.log(), "Could not accept client", {"err", accepted.status().ToString()});
        if (!ctx.Sleep(std::chrono::seconds(1)).ok()) return;
        continue;
      }
      const std::shared_ptr<net::TcpSocket> local = *std::move(accepted);
      const Status started = scope_.Go("forward", [this, local, index](Context& inner) {
        Forward(inner, *local, ports_[index].remote);
        Ended();
      });
      if (!started.ok()) return Ended();
    }
  }

  void Ended() {
    MutexLock lock(mu_);
    --connections_;
    ended_.NotifyAll();
  }

  void Forward(Context& ctx, net::TcpSocket& local, uint16_t port) {
    Status status;
    if (auto pod = PortForward(ctx, client_, pod_, port); pod.ok()) {
      status = Relay(ctx, local, **pod).Run();
    } else {
      status = pod.status();
    }
    if (!status.ok() && !ctx.Done()) {
      COX_WARNING(ctx.log(), "Could not forward connection", {"pod", pod_.ToString()},
                  {"port", port}, {"err", status.ToString()});
    }
  }

  Client& client_;
  const ObjectKey pod_;
  const size_t max_connections_;
  // Immutable after Listen returns.
  std::vector<PortMapping> ports_;
  std::vector<std::unique_ptr<net::TcpListener>> listeners_;
  Mutex mu_;
  CondVar ended_;
  size_t connections_ COX_GUARDED_BY(mu_) = 0;  // including those that acceptors wait for
  Scope scope_;
};

}  // namespace

Result<std::unique_ptr<PortForwarder>> ListenAndForward(const Context& ctx, Client& client,
                                                        const ObjectKey& pod,
                                                        std::vector<PortMapping> ports,
                                                        const ForwardOptions& options) {
  // Each acceptor reserves a place while it waits, so that one is needed per port.
  const size_t places = std::max(options.max_connections, size_t{1}) + ports.size() - 1;
  auto forwarder = std::make_unique<Forwarder>(ctx, client, pod, places);
  COX_RETURN_IF_ERROR(forwarder->Listen(options.address, ports));
  return std::unique_ptr<PortForwarder>(std::move(forwarder));
}

}  // namespace cox
