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

// Of the node of that number: out of 100.64.0.0/10, which nobody routes.
std::string NodeAddress(int node);

// Which address a Pod gets: node 5 has 10.0.5.1 to 10.0.5.254, as host-local gives them. An address
// that was given back comes again as late as possible.
//
// Threads: all methods may be called concurrently.
class PodAddresses {
 public:
  // Empty if the node has none left.
  std::string Take(int node);
  // It is in use: by a Pod that was here before this process.
  void Keep(int node, std::string_view address);
  void GiveBack(int node, std::string_view address);

 private:
  struct Block {
    std::bitset<256> used;
    uint8_t last = 0;
  };
  Mutex mu_;
  std::unordered_map<int, Block> blocks_ COX_GUARDED_BY(mu_);
};

}  // namespace cox::simulate
