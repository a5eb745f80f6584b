// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"
#include "base/status.h"

namespace cox {

enum class LogSeverity : uint8_t { kInfo, kWarning, kError };

enum class LogFormat : uint8_t {
  kText,  // klog's structured text. Differs from it in two ways: times are UTC, and a value of
          // several lines stays on one line, escaped, so that a line of the file is an entry of the
          // log.
  kJson,  // one JSON object per line, with the fields of Kubernetes' own JSON log
};

// A loggable value. Borrows strings and statuses: only for the arguments of one call.
class LogValue {
 public:
  LogValue(std::nullptr_t) {}                                          // NOLINT: all implicit
  LogValue(std::same_as<bool> auto value) : value_(value) {}           // NOLINT
  LogValue(std::floating_point auto value) : value_(double{value}) {}  // NOLINT
  LogValue(const char* value) {                                        // NOLINT
    if (value != nullptr) value_ = std::string_view(value);
  }
  LogValue(std::string_view value) : value_(value) {}                      // NOLINT
  LogValue(const std::string& value) : value_(std::string_view(value)) {}  // NOLINT
  LogValue(const Status& value) : value_(&value) {}                        // NOLINT
  LogValue(Redacted) : value_(Redacted::kText) {}                          // NOLINT
  template <class T>
  LogValue(const Secret<T>&) : value_(Redacted::kText) {}  // NOLINT
  template <class Rep, class Period>
  LogValue(std::chrono::duration<Rep, Period> value)  // NOLINT
      : value_(std::chrono::duration_cast<std::chrono::nanoseconds>(value)) {}
  template <std::integral Int>
    requires(!std::same_as<Int, bool> && !std::same_as<Int, char>)
  LogValue(Int value) {  // NOLINT
    if constexpr (std::signed_integral<Int>) {
      value_ = int64_t{value};
    } else {
      value_ = uint64_t{value};
    }
  }

  using Variant = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string_view,
                               std::chrono::nanoseconds, const Status*>;
  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view key;
  LogValue value;
};

// A formatted field, for loggers that add it to every line.
struct RenderedField {
  std::string key;
  std::string text;  // `key=value` or `"key":value`
};

// The location of the log statement.
struct LogSite {
  std::string_view file;
  int line;
};

struct LogRecord {
  LogSeverity severity = LogSeverity::kInfo;
  int verbosity = 0;
  Clock::WallTime time;
  int64_t thread = 0;
  LogSite site;
  std::string_view logger;  // the component's name, or empty
  const Status* error = nullptr;
  std::string_view message;
  std::span<const RenderedField> with;  // omitted if `fields` has the key
  std::span<const LogField> fields;
};

// Longer strings are truncated, with a note.
inline constexpr size_t kMaxLogValueBytes = 16 * 1024;

// Appends one line including its '
// '. Pure functions of their arguments.
void AppendLogLine(std::string& out, LogFormat format, const LogRecord& record);
RenderedField RenderLogField(LogFormat format, const LogField& field);

}  // namespace cox
