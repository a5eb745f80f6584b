// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/flags.h"
#include "base/result.h"
#include "kubelet/kubelet.h"

namespace cox::cmd {

// The kubelet's own flags, with upstream's names.
std::span<const FlagInfo> KubeletFlags();

// What they say. BadRequest naming the flag.
Result<kubelet::KubeletOptions> KubeletOptionsFrom(const Flags& flags);

}  // namespace cox::cmd
