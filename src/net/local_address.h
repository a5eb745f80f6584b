// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cox::net {

// Reports whether `ip` is an address of this machine: of an interface, or a loopback address.
// False if the text is not an IP address.
bool IsLocalAddress(const std::string& ip);

}  // namespace cox::net
