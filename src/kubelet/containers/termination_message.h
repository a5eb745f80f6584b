// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/v1.h"
#include "kubelet/options/options.h"
#include "runtime/pod_state.h"

// What containers say about their end.
namespace cox::kubelet {

// The file that a container finds at its terminationMessagePath.
std::string TerminationLogPath(const Options& options, const std::string& uid,
                               const std::string& container, uint32_t attempt);

// Fills in the messages of those that have ended: what they wrote, or with FallbackToLogsOnError
// and nothing written the end of their log. `told`: the status told last, which has the messages of
// those whose files are gone.
void AddTerminationMessages(const Options& options, const core::v1::Pod& pod,
                            const core::v1::PodStatus& told, runtime::PodState& state);

// The text of the last lines of a log as the runtime writes it, for a message. Pure.
std::string LogTail(std::string_view log);

}  // namespace cox::kubelet
