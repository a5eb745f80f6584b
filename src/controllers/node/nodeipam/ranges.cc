// SPDX-License-Identifier: Apache-2.0
#include "controllers/node/nodeipam/ranges.h"

#include <memory>
#include <utility>

namespace cox::controllers {
namespace {

constexpr int kMaskIpv4 = 24;
constexpr int kMaskIpv6 = 64;

}  // namespace

Result<std::unique_ptr<Ranges>> Ranges::Create(const NodeIpamOptions& options) {
  if (options.cluster_cidrs.empty()) {
    return Status::BadRequest(
        "--allocate-node-cidrs needs --cluster-cidr: the range that Pods' addresses are from");
  }
  if (options.cluster_cidrs.size() > 2) {
    return Status::BadRequest("--cluster-cidr: one range, or one of each IP family");
  }
  std::vector<CidrSet> sets;
  for (const std::string& cidr : options.cluster_cidrs) {
    const bool ipv6 = cidr.find(':') != std::string::npos;
    const int asked = ipv6 ? options.mask_size_ipv6 : options.mask_size_ipv4;
    const int mask = asked != 0 ? asked : ipv6 ? kMaskIpv6 : kMaskIpv4;
    COX_ASSIGN_OR_RETURN(CidrSet set, CidrSet::Create(cidr, mask));
    for (const std::string& services : options.service_cidrs) (void)set.Occupy(services);
    sets.push_back(std::move(set));
  }
  if (sets.size() == 2 && sets[0].IsIpv6() == sets[1].IsIpv6()) {
    return Status::BadRequest("--cluster-cidr: two ranges must be of different IP families");
  }
  return std::make_unique<Ranges>(std::move(sets));
}

void Ranges::Release(const std::string& node) {
  const auto held = held_.find(node);
  if (held == held_.end()) return;
  for (const std::string& cidr : held->second) {
    for (CidrSet& set : sets_) set.Release(cidr);
  }
  held_.erase(held);
}

void Ranges::Note(const std::string& node, const List<std::string>& cidrs) {
  MutexLock lock(mu_);
  const auto held = held_.find(node);
  if (held != held_.end() && held->second == cidrs) return;
  Release(node);
  for (const std::string& cidr : cidrs) {
    for (CidrSet& set : sets_) (void)set.Occupy(cidr);
  }
  held_[node] = cidrs;
}

std::optional<List<std::string>> Ranges::Reserve(const std::string& node) {
  MutexLock lock(mu_);
  const auto held = held_.find(node);
  if (held != held_.end()) return held->second;
  List<std::string> cidrs;
  for (CidrSet& set : sets_) {
    std::optional<std::string> cidr = set.Allocate();
    if (!cidr) {
      for (size_t i = 0; i < cidrs.size(); ++i) sets_[i].Release(cidrs[i]);
      return std::nullopt;
    }
    cidrs.push_back(*std::move(cidr));
  }
  held_.emplace(node, cidrs);
  return cidrs;
}

void Ranges::Forget(const std::string& node) {
  MutexLock lock(mu_);
  Release(node);
}

std::vector<Ranges::Usage> Ranges::usage() const {
  MutexLock lock(mu_);
  std::vector<Usage> usage;
  for (const CidrSet& set : sets_) usage.push_back({set.used(), set.size()});
  return usage;
}

}  // namespace cox::controllers
