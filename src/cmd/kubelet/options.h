// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "base/flags.h"
#include "base/result.h"
#include "kubelet/kubelet.h"

namespace cox::cmd {

// The flags of the kubelet, with upstream's names.
std::span<const FlagInfo> KubeletFlags();

// Converts the flags. Returns BadRequest with the flag's name.
Result<kubelet::KubeletOptions> KubeletOptionsFrom(const Flags& flags);

}  // namespace cox::cmd
