// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/mutex.h"
#include "base/scope.h"
#include "net/server.h"
#include "sdk/streams/peer/scripted_log.h"

namespace cox::sdk {

// A test's stand-in for an API server of v1.36 with a node behind it: one that has Pods with logs,
// exec, attach and port-forward, and speaks their protocols as the real ones do. `kubectl` works
// with it (tests/sdk/kubectl_streams_test.py), which is how we know.
//
// Each Pod of each namespace is there and has the container "main", apart from the Pod "missing".
// The programs that exec finds are scripted:
//   echo WORDS...   writes them and a line end
//   cat             copies stdin to stdout until stdin is closed
//   both            "out" to stdout and "err" to stderr
//   exit CODE       ends so
//   flood BYTES     that many bytes to stdout
//   size            waits for the terminal's size and writes it: 80x24
//   break           writes "partial", waits for input and loses the connection
//   hang            does nothing until the peer has gone
// Others cannot be started. attach is `cat` after a line of greeting. Of the ports 7 echoes, 19
// sends 1 MB and ends, the others refuse.
//
// Threads: all methods may be called concurrently.
class PodPeer {
 public:
  struct Options {
    bool v5 = true;  // else v4 is the newest that exec and attach speak
    net::ServerOptions server;
  };
  PodPeer(const Context& ctx, Options options);
  ~PodPeer();

  uint16_t port() const { return server_->port(); }
  // The same without a socket.
  net::Handler handler() {
    return [this](net::ExchangePtr exchange) { Handle(std::move(exchange)); };
  }
  // What the containers write.
  ScriptedLog& log() { return *log_; }
  // Requests so far, by their targets.
  std::vector<std::string> targets() const;
  // Bytes of `flood` that were given to the sockets so far.
  size_t flooded() const { return flooded_.load(); }

 private:
  void Handle(net::ExchangePtr exchange);
  // True if it was a request for what makes kubectl find the Pod.
  bool AnswerObject(net::Exchange& exchange);
  void ServeLog(net::Exchange& exchange);
  void ServeProcess(const net::ExchangePtr& exchange, bool attach);
  void ServePort(const net::ExchangePtr& exchange);

  const Options options_;
  const std::shared_ptr<ScriptedLog> log_ = std::make_shared<ScriptedLog>();
  std::atomic<size_t> flooded_ = 0;
  mutable Mutex mu_;
  std::vector<std::string> targets_ COX_GUARDED_BY(mu_);
  Scope scope_;
  std::unique_ptr<net::Server> server_;
};

// The values of a parameter of a target, decoded.
std::vector<std::string> QueryValues(const net::Request& request, std::string_view name);

// Runs the script of one process on a socket with the channel protocol, to its end. `flooded`
// counts as PodPeer::flooded.
void RunProcess(Context& ctx, net::WebSocket& socket, const net::Request& request, bool attach,
                std::atomic<size_t>* flooded);
void RunPort(Context& ctx, net::WebSocket& socket, uint16_t port);

}  // namespace cox::sdk
