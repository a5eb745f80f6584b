// SPDX-License-Identifier: Apache-2.0
#include "net/client/dial_error.h"

#include <boost/asio/error.hpp>

namespace cox::net {

std::string HostAndPort(const std::string& host, uint16_t port) {
  const std::string name = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return port == 0 ? name : name + ":" + std::to_string(port);
}

Status DialError(const std::string& dial, const boost::system::error_code& error) {
  if (error == boost::asio::error::timed_out) return Status::Unavailable(dial + ": i/o timeout");
  std::string why = error.message();
  if (!why.empty() && why[0] >= 'A' && why[0] <= 'Z') {
    why[0] = static_cast<char>(why[0] - 'A' + 'a');
  }
  return Status::Unavailable(dial + ": connect: " + why);
}

Status LookupError(const std::string& host) {
  return Status::Unavailable("dial tcp: lookup " + host + ": no such host");
}

}  // namespace cox::net
