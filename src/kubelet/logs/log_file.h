// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "kubelet/logs/log_line.h"

namespace cox::kubelet {

// Where the last `lines` lines of an open file begin, found from its end: nothing before them is
// read. A file that does not end with a line's end has one more line.
Result<int64_t> FindTail(int fd, int64_t lines);

// Sends a container's log to `write`, in pieces, as `options` say.
//
// With `follow` it goes on until the container has ended and all of its log was sent, `write` or
// `ctx` ends it: the kernel tells of new lines, and of the file being another after a rotation.
// `running` is asked at the end of the file. Blocks; each call has a thread of its own.
//
// Errors: NotFound if there is no such file; what `write` returned; the context's reason.
Status ReadLog(const Context& ctx, const std::string& path, const LogOptions& options,
               const std::function<bool()>& running,
               const std::function<Status(std::string bytes)>& write);

}  // namespace cox::kubelet
