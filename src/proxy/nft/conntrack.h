// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/status.h"
#include "proxy/model/address.h"

namespace cox::proxy::nft {

// A translated connection (conntrack entry).
struct Flow {
  uint8_t protocol = 0;
  Address destination;  // the original destination
  uint16_t port = 0;
  Address endpoint;  // the translated destination
  uint16_t endpoint_port = 0;
};

// Deletes the UDP conntrack entries of a family for which `stale` returns true, so that their next
// packet is translated by the current rules. UDP has no connection end that would do it.
Status ForgetFlows(Family family, const std::function<bool(const Flow&)>& stale);

}  // namespace cox::proxy::nft
