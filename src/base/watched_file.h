// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/file_watch.h"
#include "base/published.h"

namespace cox {

// What a configuration, credential or CA file says, kept up to date while the program runs.
//
//   COX_ASSIGN_OR_RETURN(
//       policy_, WatchedFile<Policy>::Open(
//                    ctx, {.name = "audit-policy", .paths = {path}},
//                    [](std::span<const std::string> texts) -> Result<std::shared_ptr<const
//                    Policy>> {
//                      return ParsePolicy(texts[0]);
//                    }));
//   ...
//   const std::shared_ptr<const Policy> policy = policy_->Current();   // per use: cheap, no lock
//
// Several paths make one value of several files: a certificate and its key.
//
// Guarantees: Current() is never null and never half of something: a file that is gone, cannot be
//   read or does not parse leaves the last good value in force, and is logged as an error (once for
//   each such state). Changes are noticed as FileWatch says.
// Threads: Current() may be called concurrently. `parse` and `reloaded` run on the thread of the
//   watch, one call at a time, except for the first `parse`, which Open calls.
// Errors: Open returns what is wrong with the file as it is now; a program does not start on that.
// No contents are ever logged: keep them out of the texts of `parse`'s errors too.
template <class T>
class WatchedFile {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Parse = std::function<Result<Ptr>(std::span<const std::string> texts)>;
  // Called after each attempt that follows a change: OK when Current() is new, else why it is not.
  using Reloaded = std::function<void(const Status&)>;

  static Result<std::unique_ptr<WatchedFile>> Open(const Context& ctx, FileWatch::Options options,
                                                   Parse parse, Reloaded reloaded = nullptr) {
    auto file = std::make_unique<WatchedFile>(Private{}, std::move(parse), std::move(reloaded));
    const Logger log = ctx.log().With({{"file", options.paths.front().string()}});
    COX_ASSIGN_OR_RETURN(
        file->watch_, FileWatch::Start(
                          ctx, std::move(options),
                          [&file](std::span<const std::string> texts) { return file->Take(texts); },
                          [self = file.get(), log](const Result<std::vector<std::string>>& texts) {
                            self->Reload(texts, log);
                          }));
    return file;
  }

  Ptr Current() const { return current_.Load(); }

 private:
  struct Private {};

 public:
  // For Open.
  WatchedFile(Private, Parse parse, Reloaded reloaded)
      : parse_(std::move(parse)), reloaded_(std::move(reloaded)) {}

 private:
  Status Take(std::span<const std::string> texts) {
    COX_ASSIGN_OR_RETURN(Ptr parsed, parse_(texts));
    current_.Store(std::move(parsed));
    return {};
  }

  void Reload(const Result<std::vector<std::string>>& texts, const Logger& log) {
    const Status status = texts.ok() ? Take(*texts) : texts.status();
    if (status.ok()) {
      COX_INFO(log, "Reloaded the file");
    } else {
      COX_ERROR(log, status, "The file changed and cannot be used; what it said before stays");
    }
    if (reloaded_) reloaded_(status);
  }

  const Parse parse_;
  const Reloaded reloaded_;
  Published<const T> current_;
  std::unique_ptr<FileWatch> watch_;  // last: its thread uses the rest
};

}  // namespace cox
