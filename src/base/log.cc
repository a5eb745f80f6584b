// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/strings.h"

namespace cox {
namespace {

int64_t ThreadId() {
  static thread_local const int64_t id = gettid();
  return id;
}

}  // namespace

void FdLogSink::Write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = write(fd_, line.data(), line.size());
    if (written >= 0) {
      line.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
}

// Below every verbosity, so that one comparison serves both kinds of logger.
constinit const Logger::Component Logger::kDiscard{{}, -1};

Logger Logger::With(std::initializer_list<LogField> fields) const {
  if (!attached()) return *this;
  auto with = with_ ? std::make_shared<std::vector<RenderedField>>(*with_)
                    : std::make_shared<std::vector<RenderedField>>();
  for (const LogField& field : fields) {
    std::erase_if(*with, [&](const RenderedField& old) { return old.key == field.key; });
    with->push_back(RenderLogField(logging_->format_, field));
  }
  Logger logger = *this;
  logger.with_ = std::move(with);
  return logger;
}

void Logger::Write(LogSite site, LogSeverity severity, int verbosity, const Status* error,
                   std::string_view message, std::initializer_list<LogField> fields) const {
  if (!attached()) return;
  LogRecord record{.severity = severity,
                   .verbosity = verbosity,
                   .time = logging_->clock_.Now(),
                   .thread = ThreadId(),
                   .site = site,
                   .logger = component_->name,
                   .error = error,
                   .message = message,
                   .fields = {fields.begin(), fields.size()}};
  if (with_) record.with = *with_;
  std::string line;
  line.reserve(256);
  AppendLogLine(line, logging_->format_, record);
  logging_->sink_.Write(line);
}

Logging::Logging(Clock& clock, LogFormat format, LogSink& sink)
    : clock_(clock), format_(format), sink_(sink) {}

Logger Logging::For(std::string_view component) {
  MutexLock lock(mu_);
  auto found = components_.find(component);
  if (found == components_.end()) {
    found = components_.try_emplace(std::string(component)).first;
    found->second.name = found->first;
    found->second.level.store(LevelLocked(found->first), std::memory_order_relaxed);
  }
  return {*this, found->second};
}

int Logging::LevelLocked(const std::string& component) const {
  const auto found = levels_.find(component);
  return found == levels_.end() ? default_level_ : found->second;
}

void Logging::ApplyLocked() {
  for (auto& [name, component] : components_) {
    component.level.store(LevelLocked(name), std::memory_order_relaxed);
  }
}

void Logging::SetDefaultLevel(int level) {
  MutexLock lock(mu_);
  default_level_ = std::max(level, 0);
  ApplyLocked();
}

void Logging::SetLevel(std::string_view component, int level) {
  MutexLock lock(mu_);
  levels_.insert_or_assign(std::string(component), std::max(level, 0));
  ApplyLocked();
}

Status Logging::SetLevels(std::string_view spec) {
  std::map<std::string, int, std::less<>> levels;
  if (!TrimSpace(spec).empty()) {
    for (std::string_view part : Split(spec, ',')) {
      const auto [key, value, found] = Cut(TrimSpace(part), '=');
      int level = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), level);
      const bool number = error == std::errc() && end == value.data() + value.size() && level >= 0;
      if (!found || key.empty() || !number) {
        return Status::BadRequest("log level " + Quote(part) +
                                  " is not of the form component=level");
      }
      levels.insert_or_assign(std::string(key), level);
    }
  }
  MutexLock lock(mu_);
  levels_ = std::move(levels);
  ApplyLocked();
  return {};
}

int Logging::LevelOf(std::string_view component) const {
  MutexLock lock(mu_);
  return LevelLocked(std::string(component));
}

}  // namespace cox
