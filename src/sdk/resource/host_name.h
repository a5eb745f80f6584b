// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::sdk {

// The host's name, which in a Pod is the Pod's; "unknown" if it has none.
std::string HostName();

}  // namespace cox::sdk
