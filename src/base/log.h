// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log_format.h"
#include "base/mutex.h"
#include "base/status.h"

// Structured logging: a constant message and key/value pairs, one line each.
//
//   COX_INFO(log, "Started", {"port", 6443}, {"address", address});
//   COX_V(log, 4, "Looked at node", {"node", name}, {"score", 0.5});      // at level 4 and above
//   COX_WARNING(log, "Certificate expires soon", {"in", hours(12)});
//   COX_ERROR(log, status, "Could not bind", {"pod", name}, {"after", elapsed});
//
// As text:  I1115 01:27:00.123456   12345 server.cc:12] "Started" logger="apiserver" port=6443
// As JSON:
// {"ts":1794706020123.456,"logger":"apiserver","caller":"net/server.cc:12","msg":"Started",...}
//
// The message is a human-readable constant, in the past tense, without a full stop; variable parts
// are values. Values are escaped, so input cannot forge a line, and Secret<T> prints as [REDACTED].
// A statement below the level costs one relaxed load and evaluates none of its arguments. Errors
// are always written.
#define COX_INFO(logger, message, ...) COX_V(logger, 0, message __VA_OPT__(, ) __VA_ARGS__)
#define COX_V(logger, verbosity, message, ...)                                                   \
  COX_LOG_IF(Enabled(verbosity), logger, ::cox::LogSeverity::kInfo, verbosity, nullptr, message, \
             __VA_ARGS__)
#define COX_WARNING(logger, message, ...) \
  COX_LOG_IF(Enabled(0), logger, ::cox::LogSeverity::kWarning, 0, nullptr, message, __VA_ARGS__)
#define COX_ERROR(logger, status, message, ...)                 \
  COX_LOG_IF(attached(), logger, ::cox::LogSeverity::kError, 0, \
             &static_cast<const ::cox::Status&>(status), message, __VA_ARGS__)
// One expression, so that the logger of a temporary, as in ctx.WithValue("a", "b").log(), stays
// alive.
#define COX_LOG_IF(condition, logger, severity, verbosity, error, message, ...)         \
  do {                                                                                  \
    const ::cox::Logger* cox_logger_ = nullptr;                                         \
    (cox_logger_ = &static_cast<const ::cox::Logger&>(logger))->condition               \
        ? cox_logger_->Write({__FILE__, __LINE__}, severity, verbosity, error, message, \
                             {__VA_ARGS__})                                             \
        : void();                                                                       \
  } while (0)

namespace cox {

// The destination of complete lines.
// Threads: Write() may be called concurrently; each call is one whole line with its '\n'.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(std::string_view line) = 0;
};

// Writes lines to a file descriptor, each in one write(2) and without a lock: the kernel keeps
// lines whole for files opened in append mode and, up to PIPE_BUF, for pipes. A line that cannot be
// written is counted and dropped: logging neither blocks on a full non-blocking pipe nor fails its
// caller.
// Ownership: borrows the descriptor.
class FdLogSink final : public LogSink {
 public:
  explicit FdLogSink(int fd) : fd_(fd) {}
  void Write(std::string_view line) override;
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  const int fd_;
  std::atomic<uint64_t> lost_ = 0;
};

class Logging;

// Writes the lines of one component, with common key/values. Cheap to copy. A default-constructed
// logger discards everything.
// Ownership: its Logging must outlive it.
// Threads: may be used concurrently.
class Logger {
 public:
  Logger() = default;

  bool Enabled(int verbosity) const {
    return component_->level.load(std::memory_order_relaxed) >= verbosity;
  }
  bool attached() const { return logging_ != nullptr; }

  // A logger whose lines also contain `fields`; a later field with the same key replaces an earlier
  // one.
  Logger With(std::initializer_list<LogField> fields) const;

  // Use the macros.
  void Write(LogSite site, LogSeverity severity, int verbosity, const Status* error,
             std::string_view message, std::initializer_list<LogField> fields) const;

 private:
  friend class Logging;
  struct Component {
    std::string_view name;  // the key of Logging::components_
    std::atomic<int> level;
  };
  static const Component kDiscard;

  Logger(Logging& logging, const Component& component)
      : logging_(&logging), component_(&component) {}

  Logging* logging_ = nullptr;
  const Component* component_ = &kDiscard;
  std::shared_ptr<const std::vector<RenderedField>> with_;
};

// Creates loggers and holds their shared state: format, sink and the verbosity of each component.
//
// Threads: all methods may be called concurrently; levels may change while others log.
// Ownership: must outlive its loggers; clock and sink must outlive it.
class Logging {
 public:
  Logging(Clock& clock, LogFormat format, LogSink& sink);
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  // The logger of `component`, which may be empty for a program with one component.
  Logger For(std::string_view component);

  // Components without a level of their own have the default level, initially 0.
  void SetDefaultLevel(int level);
  void SetLevel(std::string_view component, int level);
  // "apiserver=4,scheduler=2": replaces all levels of components; "" removes them. BadRequest,
  // without a change, if the text is malformed.
  Status SetLevels(std::string_view spec);
  int LevelOf(std::string_view component) const;

 private:
  friend class Logger;
  int LevelLocked(const std::string& component) const COX_REQUIRES(mu_);
  void ApplyLocked() COX_REQUIRES(mu_);

  Clock& clock_;
  const LogFormat format_;
  LogSink& sink_;
  mutable Mutex mu_;
  int default_level_ COX_GUARDED_BY(mu_) = 0;
  std::map<std::string, int, std::less<>> levels_ COX_GUARDED_BY(mu_);
  // Entries are never removed, because loggers point to them.
  std::map<std::string, Logger::Component, std::less<>> components_ COX_GUARDED_BY(mu_);
};

}  // namespace cox
