// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/status.h"
#include "proxy/model/address.h"

namespace cox::proxy::nft {

// A connection that the kernel has translated, as far as it matters here.
struct Flow {
  uint8_t protocol = 0;
  Address destination;  // what the sender asked for
  uint16_t port = 0;
  Address endpoint;  // who answers
  uint16_t endpoint_port = 0;
};

// Makes the kernel forget the UDP flows of a family for which `stale` holds, so that their next
// packet meets the rules of today. UDP has no end that would do it.
Status ForgetFlows(Family family, const std::function<bool(const Flow&)>& stale);

}  // namespace cox::proxy::nft
