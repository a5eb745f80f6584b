// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/mutex.h"

namespace cox::simulate {

// The address of the node with that number, from the shared address space 100.64.0.0/10.
std::string NodeAddress(int node);

// Allocates Pod addresses: node 5 has 10.0.5.1 to 10.0.5.254, like the host-local plugin. Released
// addresses are reused as late as possible.
//
// Threads: all methods may be called concurrently.
class PodAddresses {
 public:
  // Returns an empty string if the node has no free address.
  std::string Take(int node);
  // Marks an address as used, by a Pod that existed before this process started.
  void Keep(int node, std::string_view address);
  void Release(int node, std::string_view address);

 private:
  struct Block {
    std::bitset<256> used;
    uint8_t last = 0;
  };
  Mutex mu_;
  std::unordered_map<int, Block> blocks_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::simulate
