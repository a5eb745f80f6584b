// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/system/error_code.hpp>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace cox::net {

// "10.0.0.1:80", "[::1]:80"; without the port if it is 0.
std::string HostAndPort(const std::string& host, uint16_t port);

// `dial` is "dial tcp 10.0.0.1:80". The text is that of Go's dialer, because users see it in API
// errors.
Status DialError(const std::string& dial, const boost::system::error_code& error);
Status LookupError(const std::string& host);

}  // namespace cox::net
