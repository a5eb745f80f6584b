// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox {

// The name of this host; in a Pod, the name of the Pod. Empty if unknown.
std::string HostName();
// The same in lower case, as required for the name of a Node.
std::string LowerCaseHostName();

}  // namespace cox
