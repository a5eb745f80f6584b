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

// What goes on in a Pod's containers: their logs, programs run in them, connections to them.
//
//   ExecOptions options{.command = {"cat", "/etc/hostname"}};
//   COX_ASSIGN_OR_RETURN(ExecResult result, ExecOutput(ctx, client, {"default", "web"}, options));
//   if (result.exit_code == 0) Use(result.output);
//
// Exec, attach and port-forward run over WebSockets, one connection each, with Kubernetes' channel
// protocol: v5.channel.k8s.io (API servers from v1.30 on), else v4.channel.k8s.io. SPDY, which
// servers before v1.30 also speak, is not supported.
//
// Everything has back-pressure: who reads slowly makes the container wait, and costs no memory.
// Threads: of each stream one thread may read while others write.
// Ownership: dropping a stream ends it at once.
// Errors: the server's own Status (NotFound, BadRequest for a container that is not running, ...);
//   Unavailable when the connection broke; the context's reason when that stops first, after which
//   the stream can still be used.
namespace cox {

struct LogOptions {
  std::string container;  // empty: the only one
  bool follow = false;    // go on with what the container writes from now on
  bool previous = false;  // of the container that ran before the last restart
  std::optional<int64_t> since_seconds;
  std::optional<Time> since_time;
  bool timestamps = false;  // an RFC 3339 time before each line
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
};

class LogStream {
 public:
  virtual ~LogStream() = default;
  // What is there, as it comes; empty at the end.
  virtual Result<Bytes> Read(Context& ctx) = 0;
  // The next line, without its end; none after the last. A line above 1 MiB comes in pieces.
  virtual Result<std::optional<std::string>> ReadLine(Context& ctx) = 0;
};
Result<std::unique_ptr<LogStream>> Logs(Context& ctx, Client& client, const ObjectKey& pod,
                                        const LogOptions& options = {});

struct ExecOptions {
  std::string container;             // empty: the only one, or the Pod's default
  std::vector<std::string> command;  // not a shell's line: program and arguments
  bool attach_stdin = false;
  bool attach_stdout = true;
  bool attach_stderr = true;  // with a tty there is no stderr: all is on stdout
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

// A process in a container, with the streams that were asked for.
class ContainerProcess {
 public:
  virtual ~ContainerProcess() = default;

  virtual Status Write(Context& ctx, std::string_view input) = 0;
  // The process reads to the end of its input. MethodNotAllowed if the server speaks v4, which has
  // no way to say so (see can_close_stdin).
  virtual Status CloseStdin(Context& ctx) = 0;
  virtual bool can_close_stdin() const = 0;
  // Of the terminal, if there is one.
  virtual Status Resize(Context& ctx, uint16_t width, uint16_t height) = 0;
  // The next piece; none when the process has ended and all it wrote was read.
  virtual Result<std::optional<ProcessOutput>> Read(Context& ctx) = 0;
  // Reads to the end, drops what it reads, and returns the exit code. An error if the process could
  // not run, or if nobody knows how it ended.
  virtual Result<int> Wait(Context& ctx) = 0;
};
Result<std::unique_ptr<ContainerProcess>> Exec(Context& ctx, Client& client, const ObjectKey& pod,
                                               const ExecOptions& options);
// To the process that the container itself is.
Result<std::unique_ptr<ContainerProcess>> Attach(Context& ctx, Client& client, const ObjectKey& pod,
                                                 const AttachOptions& options = {});

struct ExecResult {
  std::string output;
  std::string error_output;
  int exit_code = 0;
};
// Runs a command to its end, with `input` (then its stdin is attached, and closed after that), and
// gathers what it writes. RequestEntityTooLarge when that is more than `max_bytes`.
Result<ExecResult> ExecOutput(Context& ctx, Client& client, const ObjectKey& pod,
                              ExecOptions options, std::string_view input = {},
                              size_t max_bytes = size_t{16} * 1024 * 1024);

// A connection to a port of a Pod, as if one had connected to it from inside.
//
// The channel protocol carries one connection per WebSocket and cannot end one direction alone: the
// Pod sees the end of our side when the stream is dropped. What kubectl prefers (SPDY/3.1 inside a
// WebSocket, many connections in one) is not supported; API servers and kubelets of v1.36 take
// both.
class PortStream {
 public:
  virtual ~PortStream() = default;
  virtual Status Write(Context& ctx, std::string_view bytes) = 0;
  // What is there, as it comes; empty when the Pod ended the connection. Unavailable, with the
  // kubelet's words, when nobody listens there.
  virtual Result<Bytes> Read(Context& ctx) = 0;
  // Sends what was written, then ends the connection; what still comes is dropped.
  virtual Status Close(Context& ctx) = 0;
};
Result<std::unique_ptr<PortStream>> PortForward(Context& ctx, Client& client, const ObjectKey& pod,
                                                uint16_t port);

struct PortMapping {
  uint16_t local = 0;  // 0: any that is free
  uint16_t remote = 0;
};
struct ForwardOptions {
  std::string address = "127.0.0.1";  // whoever reaches it reaches the Pod, as us
  size_t max_connections = 64;        // at once; more wait
};

// Listens on local ports and forwards each connection, as `kubectl port-forward` does. Dropping it
// ends it, with all connections.
//
// A connection that cannot be forwarded is closed and logged; the others go on. One whose local end
// has ended is kept as long as the Pod sends something, and for 10 s more.
class PortForwarder {
 public:
  virtual ~PortForwarder() = default;
  // With the local ports that were chosen.
  virtual const std::vector<PortMapping>& ports() const = 0;
};
// `client` must live as long as what is returned; that stops with `ctx`.
Result<std::unique_ptr<PortForwarder>> ListenAndForward(const Context& ctx, Client& client,
                                                        const ObjectKey& pod,
                                                        std::vector<PortMapping> ports,
                                                        const ForwardOptions& options = {});

}  // namespace cox
