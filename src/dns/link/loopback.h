// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace cox::dns {

// Addresses that this computer has besides its own, on its loopback interface: packets to them end
// here, whoever sends them by way of this computer. No interface has to be made for it, which not
// every kernel can.
//
// They are marked as ours: those that a killed run has left are taken over or, if they are not
//   wanted any more, removed. One that is there without the mark is used, and left alone.
// Lifetime: removed when it is destroyed, by a thread in the same network namespace.
// Errors: Forbidden without CAP_NET_ADMIN; Unavailable if the kernel cannot.
class LoopbackAddresses {
 public:
  // Without prefix: each becomes a /32 or /128.
  static Result<std::unique_ptr<LoopbackAddresses>> Add(const std::vector<std::string>& addresses);
  // Removes all that have our mark. OK if there is nothing.
  static Status RemoveAll();

  LoopbackAddresses() = default;  // use Add
  ~LoopbackAddresses() { (void)RemoveAll(); }
  LoopbackAddresses(const LoopbackAddresses&) = delete;
  LoopbackAddresses& operator=(const LoopbackAddresses&) = delete;
};

}  // namespace cox::dns
