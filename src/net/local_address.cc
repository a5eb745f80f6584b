// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <sys/socket.h>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include "base/fd.h"

namespace cox::net {

bool IsLocalAddress(const std::string& ip) {
  boost::system::error_code error;
  boost::asio::ip::address address = boost::asio::ip::make_address(ip, error);
  if (error) return false;
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
  }
  // Only local addresses can be bound.
  const boost::asio::ip::udp::endpoint end(address, 0);
  const Fd socket(::socket(end.data()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket.get() >= 0 &&
         ::bind(socket.get(), end.data(), static_cast<socklen_t>(end.size())) == 0;
}

}  // namespace cox::net
