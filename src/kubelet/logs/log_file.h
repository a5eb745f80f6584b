// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "kubelet/logs/log_line.h"

namespace cox::kubelet {

// The offset of the last `lines` lines of an open file. Reads backwards from the end only. A last
// line without a newline counts as a line.
Result<int64_t> FindTail(int fd, int64_t lines);

// Sends a container's log to `write`, in chunks, filtered by `options`.
//
// With `follow`, continues until the container has ended and its whole log was sent, `write` fails,
// or `ctx` is cancelled. Uses inotify to detect new lines and rotation. Calls `running` at the end
// of the file. Blocks; each call needs a thread of its own.
//
// Errors: NotFound if there is no such file; the error of `write`; the context's error.
Status ReadLog(const Context& ctx, const std::string& path, const LogOptions& options,
               const std::function<bool()>& running,
               const std::function<Status(std::string bytes)>& write);

}  // namespace cox::kubelet
