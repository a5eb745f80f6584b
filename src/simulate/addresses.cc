// SPDX-License-Identifier: Apache-2.0
#include "simulate/addresses.h"

#include "base/strings.h"

namespace cox::simulate {
namespace {

constexpr int kLastHost = 254;

std::string BlockOf(int node) {
  return "10." + std::to_string(node / 256) + "." + std::to_string(node % 256) + ".";
}

// Returns the last part of an address of that node; 0 for an address of another node.
int HostOf(int node, std::string_view address) {
  const std::string block = BlockOf(node);
  if (address.substr(0, block.size()) != block) return 0;
  int host = 0;
  for (const char digit : address.substr(block.size())) {
    if (digit < '0' || digit > '9' || host > kLastHost) return 0;
    host = host * 10 + (digit - '0');
  }
  return host <= kLastHost ? host : 0;
}

}  // namespace

std::string NodeAddress(int node) {
  const int number = node + 1;
  return "100." + std::to_string(64 + number / 65'536) + "." + std::to_string(number / 256 % 256) +
         "." + std::to_string(number % 256);
}

std::string PodAddresses::Take(int node) {
  MutexLock lock(mu_);
  Block& block = blocks_[node];
  for (int tried = 0; tried < kLastHost; ++tried) {
    block.last = static_cast<uint8_t>(block.last % kLastHost + 1);
    if (block.used[block.last]) continue;
    block.used[block.last] = true;
    return BlockOf(node) + std::to_string(block.last);
  }
  return "";
}

void PodAddresses::Keep(int node, std::string_view address) {
  const int host = HostOf(node, address);
  if (host == 0) return;
  MutexLock lock(mu_);
  blocks_[node].used[static_cast<size_t>(host)] = true;
}

void PodAddresses::Release(int node, std::string_view address) {
  const int host = HostOf(node, address);
  if (host == 0) return;
  MutexLock lock(mu_);
  const auto block = blocks_.find(node);
  if (block != blocks_.end()) block->second.used[static_cast<size_t>(host)] = false;
}

}  // namespace cox::simulate
