// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace cox::dns {

// Additional addresses on the loopback interface: this machine accepts packets to them that it
// sends or routes. Needs no additional interface, which some kernels do not support.
//
// Guarantees: the addresses are marked. Marked addresses of a killed process are reused or, if they
//   are no longer wanted, removed. An existing address without the mark is used, but not removed.
// Lifetime: removed when it is destroyed, by a thread in the same network namespace.
// Errors: Forbidden without CAP_NET_ADMIN; Unavailable for other errors of the kernel.
class LoopbackAddresses {
 public:
  // Without prefix: each becomes a /32 or /128.
  static Result<std::unique_ptr<LoopbackAddresses>> Add(const std::vector<std::string>& addresses);
  // Removes all marked addresses. OK if there are none.
  static Status RemoveAll();

  LoopbackAddresses() = default;  // use Add
  ~LoopbackAddresses() { (void)RemoveAll(); }
  LoopbackAddresses(const LoopbackAddresses&) = delete;
  LoopbackAddresses& operator=(const LoopbackAddresses&) = delete;
};

}  // namespace cox::dns
