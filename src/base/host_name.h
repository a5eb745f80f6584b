// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox {

// The name of this host; in a Pod, the name of the Pod. Empty if the host has none.
std::string HostName();
// The same in lower case, as the name of a Node has to be.
std::string LowerCaseHostName();

}  // namespace cox
