// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/client.h"
#include "coxswain/object_key.h"
#include "object/scalar/time.h"

// Streams of a Pod's containers: logs, exec, attach and port-forward.
//
//   ExecOptions options{.command = {"cat", "/etc/hostname"}};
//   COX_ASSIGN_OR_RETURN(ExecResult result, ExecOutput(ctx, client, {"default", "web"}, options));
//   if (result.exit_code == 0) Use(result.output);
//
// Exec, attach and port-forward use one WebSocket connection each, with the Kubernetes channel
// protocol: v5.channel.k8s.io (API servers since v1.30), otherwise v4.channel.k8s.io. SPDY, which
// servers before v1.30 also support, is not supported.
//
// All streams apply flow control: a slow reader blocks the container and does not increase memory
// use.
// Threads: on each stream, one thread may read while others write.
// Ownership: destroying a stream closes it immediately.
// Errors: the Status sent by the server (NotFound, BadRequest for a container that is not running,
//   ...); Unavailable if the connection broke; the context's Status if the context stops first,
//   after which the stream can still be used.
namespace cox {

struct LogOptions {
  std::string container;  // empty: the only container
  bool follow = false;    // continue with new output
  bool previous = false;  // logs of the previous container instance
  std::optional<int64_t> since_seconds;
  std::optional<Time> since_time;
  bool timestamps = false;  // prefix each line with an RFC 3339 time
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
};

class LogStream {
 public:
  virtual ~LogStream() = default;
  // Returns the data that is available; waits if there is none. Empty at the end.
  virtual Result<Bytes> Read(Context& ctx) = 0;
  // The next line without its line terminator; no value after the last line. A line longer than 1
  // MiB is returned in pieces.
  virtual Result<std::optional<std::string>> ReadLine(Context& ctx) = 0;
};
Result<std::unique_ptr<LogStream>> Logs(Context& ctx, Client& client, const ObjectKey& pod,
                                        const LogOptions& options = {});

struct ExecOptions {
  std::string container;             // empty: the only container, or the Pod's default container
  std::vector<std::string> command;  // program and arguments, not a shell command line
  bool attach_stdin = false;
  bool attach_stdout = true;
  bool attach_stderr = true;  // with a tty, all output is on stdout
  bool tty = false;
};
struct AttachOptions {
  std::string container;
  bool attach_stdin = false;
  bool attach_stdout = true;
  bool attach_stderr = true;
  bool tty = false;
};

struct ProcessOutput {
  enum class Channel : uint8_t { kStdout, kStderr };
  Channel channel = Channel::kStdout;
  Bytes bytes;
};

// A process in a container, with the streams that the options attach.
class ContainerProcess {
 public:
  virtual ~ContainerProcess() = default;

  virtual Status Write(Context& ctx, std::string_view input) = 0;
  // Sends end-of-file to the process. MethodNotAllowed with protocol v4, which does not support it
  // (see can_close_stdin).
  virtual Status CloseStdin(Context& ctx) = 0;
  virtual bool can_close_stdin() const = 0;
  // Sets the size of the terminal, if there is one.
  virtual Status Resize(Context& ctx, uint16_t width, uint16_t height) = 0;
  // The next output; no value when the process has ended and all output has been read.
  virtual Result<std::optional<ProcessOutput>> Read(Context& ctx) = 0;
  // Reads and discards the remaining output and returns the exit code. An error if the process
  // could not start or its exit code is unknown.
  virtual Result<int> Wait(Context& ctx) = 0;
};
Result<std::unique_ptr<ContainerProcess>> Exec(Context& ctx, Client& client, const ObjectKey& pod,
                                               const ExecOptions& options);
// Attaches to the main process of the container.
Result<std::unique_ptr<ContainerProcess>> Attach(Context& ctx, Client& client, const ObjectKey& pod,
                                                 const AttachOptions& options = {});

struct ExecResult {
  std::string output;
  std::string error_output;
  int exit_code = 0;
};
// Runs a command until it exits and returns its output. If `input` is not empty, stdin is attached,
// receives `input`, and is then closed. RequestEntityTooLarge if the output exceeds `max_bytes`.
Result<ExecResult> ExecOutput(Context& ctx, Client& client, const ObjectKey& pod,
                              ExecOptions options, std::string_view input = {},
                              size_t max_bytes = size_t{16} * 1024 * 1024);

// A connection to a port of a Pod, made from inside the Pod's network namespace.
//
// The channel protocol carries one connection per WebSocket and has no half-close: the Pod receives
// end-of-file when the stream is destroyed. SPDY/3.1 tunneled in a WebSocket, kubectl's preferred
// protocol, which carries many connections, is not supported. API servers and kubelets of v1.36
// support both.
class PortStream {
 public:
  virtual ~PortStream() = default;
  virtual Status Write(Context& ctx, std::string_view bytes) = 0;
  // Returns the data that is available; waits if there is none. Empty when the Pod has closed the
  // connection. Unavailable, with the kubelet's message, if the port is not open.
  virtual Result<Bytes> Read(Context& ctx) = 0;
  // Sends pending data, then closes the connection; data received afterwards is discarded.
  virtual Status Close(Context& ctx) = 0;
};
Result<std::unique_ptr<PortStream>> PortForward(Context& ctx, Client& client, const ObjectKey& pod,
                                                uint16_t port);

struct PortMapping {
  uint16_t local = 0;  // 0: any free port
  uint16_t remote = 0;
};
struct ForwardOptions {
  std::string address = "127.0.0.1";  // its clients reach the Pod with this program's credentials
  size_t max_connections = 64;        // concurrent connections; further ones wait
};

// Listens on local ports and forwards each connection, like `kubectl port-forward`. Destroying it
// closes the listeners and all connections.
//
// A connection that cannot be forwarded is closed and logged; other connections are not affected.
// After the local end has closed, a connection stays open while the Pod sends data, and for 10 s
// after that.
class PortForwarder {
 public:
  virtual ~PortForwarder() = default;
  // The mappings, with the local ports that were selected.
  virtual const std::vector<PortMapping>& ports() const = 0;
};
// Stops when `ctx` stops.
// Lifetime: `client` must outlive the returned object.
Result<std::unique_ptr<PortForwarder>> ListenAndForward(const Context& ctx, Client& client,
                                                        const ObjectKey& pod,
                                                        std::vector<PortMapping> ports,
                                                        const ForwardOptions& options = {});

}  // namespace cox
