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

// The parsed contents of a configuration, credential or CA file, reloaded while the program runs.
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
// Several paths form one value: a certificate and its key.
//
// Guarantees: Current() is never null and never incomplete: a file that is missing, unreadable or
//   invalid leaves the last good value in effect, and is logged as an error (once for each such
//   state). FileWatch defines how changes are detected.
// Threads: Current() may be called concurrently. `parse` and `reloaded` run on the watch's thread,
//   one call at a time, except for the first `parse`, which Open calls.
// Errors: Open returns the error of the current file contents; the program should not start then.
// Security: contents are never logged, so errors of `parse` must not contain them either.
template <class T>
class WatchedFile {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Parse = std::function<Result<Ptr>(std::span<const std::string> texts)>;
  // Called after each reload: OK when Current() is new, else the error.
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
      COX_ERROR(log, status, "Could not reload the changed file, keeping the previous contents");
    }
    if (reloaded_) reloaded_(status);
  }

  const Parse parse_;
  const Reloaded reloaded_;
  Published<const T> current_;
  std::unique_ptr<FileWatch> watch_;  // last: its thread uses the other members
};

}  // namespace cox
