// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "kubelet/options/options.h"
#include "runtime/pod_state.h"

// Termination messages of containers.
namespace cox::kubelet {

// The host file that is mounted at the container's terminationMessagePath.
std::string TerminationLogPath(const Options& options, const std::string& uid,
                               const std::string& container, uint32_t attempt);

// Sets the messages of ended containers: the content of the file, or with FallbackToLogsOnError and
// an empty file the end of the log. `reported`: the last reported status, which has the messages of
// containers whose files are already removed.
void AddTerminationMessages(const Options& options, const core::v1::Pod& pod,
                            const core::v1::PodStatus& reported, runtime::PodState& state);

// The output in the last 80 records of a log in CRI format, as a termination message: at most its
// last 2048 bytes. The last record may be cut off. Pure.
std::string LogTail(std::string_view log);

}  // namespace cox::kubelet
