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

// A fake API server of v1.36 with a node for tests: its Pods have logs, exec, attach and
// port-forward with the real protocols. tests/sdk/kubectl_streams_test.py verifies it with
// `kubectl`.
//
// All Pods in all namespaces exist and have the container "main", except the Pod "missing". The
// programs for exec are scripted:
//   echo WORDS...   writes the words and a newline
//   cat             copies stdin to stdout until stdin is closed
//   both            "out" to stdout and "err" to stderr
//   exit CODE       exits with the code
//   flood BYTES     that many bytes to stdout
//   size            waits for the terminal's size and writes it: 80x24
//   break           writes "partial", waits for input and drops the connection
//   hang            does nothing until the client disconnects
// Other programs cannot be started. attach is `cat` after a greeting line. Port 7 echoes, port 19
// sends 1 MB and closes, the others refuse connections.
//
// Threads: all methods may be called concurrently.
class PodPeer {
 public:
  struct Options {
    bool v5 = true;  // otherwise exec and attach support only v4
    net::ServerOptions server;
  };
  PodPeer(const Context& ctx, Options options);
  ~PodPeer();

  uint16_t port() const { return server_->port(); }
  // For use without a socket.
  net::Handler handler() {
    return [this](net::ExchangePtr exchange) { Handle(std::move(exchange)); };
  }
  // The output of the containers.
  ScriptedLog& log() { return *log_; }
  // The targets of all requests so far.
  std::vector<std::string> targets() const;
  // Bytes of `flood` passed to the sockets so far.
  size_t flooded() const { return flooded_.load(); }

 private:
  void Handle(net::ExchangePtr exchange);
  // True if it was an object request that kubectl sends to find the Pod.
  bool RespondWithObject(net::Exchange& exchange);
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

// The decoded values of a query parameter.
std::vector<std::string> QueryValues(const net::Request& request, std::string_view name);

// Runs the script of a process on a socket with the channel protocol. `flooded` is the counter of
// PodPeer::flooded.
void RunProcess(Context& ctx, net::WebSocket& socket, const net::Request& request, bool attach,
                std::atomic<size_t>* flooded);
void RunPort(Context& ctx, net::WebSocket& socket, uint16_t port);

}  // namespace cox::sdk
