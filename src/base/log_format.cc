// SPDX-License-Identifier: Apache-2.0
#include "base/log_format.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace cox {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string Cut16K(std::string_view text) {
  std::string cut(text.substr(0, kMaxLogValueBytes));
  if (text.size() > kMaxLogValueBytes) {
    cut += "... (" + std::to_string(text.size() - kMaxLogValueBytes) + " bytes more)";
  }
  return cut;
}

void AppendJsonUnit(std::string& out, uint32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 0xF];
}

// In addition to JSON's requirements, escapes everything that a terminal or a line-based reader
// might interpret.
void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const Rune rune = DecodeRune(text);
    if (rune.value == '"' || rune.value == '\\') {
      out += '\\';
      out += text[0];
    } else if (rune.value == '\n' || rune.value == '\r' || rune.value == '\t') {
      out += rune.value == '\n' ? "\\n" : rune.value == '\r' ? "\\r" : "\\t";
    } else if (rune.valid && IsPrintable(rune.value)) {
      out += text.substr(0, rune.size);
    } else if (rune.value < 0x10000) {
      AppendJsonUnit(out, rune.value);  // an invalid byte is \ufffd
    } else {
      AppendJsonUnit(out, 0xD800 + ((rune.value - 0x10000) >> 10));
      AppendJsonUnit(out, 0xDC00 + ((rune.value - 0x10000) & 0x3FF));
    }
    text.remove_prefix(rune.size);
  }
  out += '"';
}

void AppendString(std::string& out, LogFormat format, std::string_view text) {
  std::string cut;
  if (text.size() > kMaxLogValueBytes) text = cut = Cut16K(text);
  format == LogFormat::kText ? AppendQuoted(out, text) : AppendJsonString(out, text);
}

void AppendDouble(std::string& out, LogFormat format, double value) {
  const std::string text = FormatDouble(value);
  const bool json_has_no_word_for_it = !std::isfinite(value) && format == LogFormat::kJson;
  out += json_has_no_word_for_it ? '"' + text + '"' : text;
}

void AppendValue(std::string& out, LogFormat format, const LogValue& value) {
  std::visit(Overloaded{
                 [&](std::monostate) { out += "null"; },
                 [&](bool v) { out += v ? "true" : "false"; },
                 [&](int64_t v) { out += std::to_string(v); },
                 [&](uint64_t v) { out += std::to_string(v); },
                 [&](double v) { AppendDouble(out, format, v); },
                 [&](std::string_view v) { AppendString(out, format, v); },
                 [&](std::chrono::nanoseconds v) { AppendString(out, format, FormatDuration(v)); },
                 [&](const Status* v) { AppendString(out, format, v->ToString()); },
             },
             value.variant());
}

// Keys are constants in the source; unusual ones are quoted to keep the line readable.
bool IsPlainKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '=' && c != '"' && c != '\\';
  });
}

void AppendField(std::string& out, LogFormat format, std::string_view key, const LogValue& value) {
  if (format == LogFormat::kJson || !IsPlainKey(key)) {
    AppendString(out, format, key);
  } else {
    out += key;
  }
  out += format == LogFormat::kJson ? ':' : '=';
  AppendValue(out, format, value);
}

void AppendFields(std::string& out, LogFormat format, char separator, const LogRecord& record) {
  for (const LogField& field : record.fields) {
    out += separator;
    AppendField(out, format, field.key, field.value);
  }
}

// Appends the logger's fields that the call does not replace.
void AppendCarried(std::string& out, char separator, const LogRecord& record) {
  for (const RenderedField& field : record.with) {
    const bool replaced = std::any_of(record.fields.begin(), record.fields.end(),
                                      [&](const LogField& f) { return f.key == field.key; });
    if (replaced) continue;
    out += separator;
    out += field.text;
  }
}

void AppendPadded(std::string& out, uint64_t value, size_t width, char pad) {
  const std::string digits = std::to_string(value);
  out.append(width - std::min(width, digits.size()), pad);
  out += digits;
}

// The last `parts` components of the path: "net/server.cc" for 2.
std::string_view PathTail(std::string_view path, int parts) {
  size_t start = path.size();
  while (start > 0 && (path[start - 1] != '/' || --parts > 0)) --start;
  return path.substr(start);
}

void AppendTextTime(std::string& out, Clock::WallTime time) {
  using std::chrono::floor;
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(floor<std::chrono::microseconds>(time - day));
  AppendPadded(out, unsigned{date.month()}, 2, '0');
  AppendPadded(out, unsigned{date.day()}, 2, '0');
  out += ' ';
  AppendPadded(out, static_cast<uint64_t>(clock.hours().count()), 2, '0');
  out += ':';
  AppendPadded(out, static_cast<uint64_t>(clock.minutes().count()), 2, '0');
  out += ':';
  AppendPadded(out, static_cast<uint64_t>(clock.seconds().count()), 2, '0');
  out += '.';
  AppendPadded(out, static_cast<uint64_t>(clock.subseconds().count()), 6, '0');
}

void AppendText(std::string& out, const LogRecord& record) {
  constexpr std::string_view kLetters = "IWE";
  out += kLetters[static_cast<size_t>(record.severity)];
  AppendTextTime(out, record.time);
  out += ' ';
  AppendPadded(out, static_cast<uint64_t>(record.thread), 7, ' ');
  out += ' ';
  out += PathTail(record.site.file, 1);
  out += ':' + std::to_string(record.site.line) + "] ";
  AppendString(out, LogFormat::kText, record.message);
  if (record.error != nullptr) {
    out += ' ';
    AppendField(out, LogFormat::kText, "err", *record.error);
  }
  if (!record.logger.empty()) {
    out += ' ';
    AppendField(out, LogFormat::kText, "logger", record.logger);
  }
  AppendCarried(out, ' ', record);
  AppendFields(out, LogFormat::kText, ' ', record);
}

void AppendJson(std::string& out, const LogRecord& record) {
  const std::chrono::duration<double, std::milli> since_epoch = record.time.time_since_epoch();
  out += "{\"ts\":" + FormatDouble(since_epoch.count());
  if (!record.logger.empty()) {
    out += ',';
    AppendField(out, LogFormat::kJson, "logger", record.logger);
  }
  out += ",\"caller\":";
  AppendJsonString(
      out, std::string(PathTail(record.site.file, 2)) + ':' + std::to_string(record.site.line));
  out += ",\"msg\":";
  AppendString(out, LogFormat::kJson, record.message);
  AppendCarried(out, ',', record);
  // Like upstream: "v" only for info messages, and the error last.
  if (record.severity != LogSeverity::kError) out += ",\"v\":" + std::to_string(record.verbosity);
  AppendFields(out, LogFormat::kJson, ',', record);
  if (record.error != nullptr) {
    out += ',';
    AppendField(out, LogFormat::kJson, "err", *record.error);
  }
  out += '}';
}

}  // namespace

void AppendLogLine(std::string& out, LogFormat format, const LogRecord& record) {
  format == LogFormat::kText ? AppendText(out, record) : AppendJson(out, record);
  out += '\n';
}

RenderedField RenderLogField(LogFormat format, const LogField& field) {
  RenderedField rendered{std::string(field.key), {}};
  AppendField(rendered.text, format, field.key, field.value);
  return rendered;
}

}  // namespace cox
