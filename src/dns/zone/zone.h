// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "dns/wire/message.h"
#include "dns/zone/source.h"

namespace cox::dns {

struct ZoneOptions {
  std::string domain = "cluster.local";  // lower case, without a trailing dot
  uint32_t ttl = 30;
  uint32_t negative_ttl = 5;
  std::string server_ip;  // this server's address for clients; for NS
};

// The cluster's names according to the Kubernetes DNS-based service discovery specification 1.1.0.
//
// Threads: may be used concurrently.
class Zone {
 public:
  // `source` outlives it.
  Zone(ZoneOptions options, const Source& source) : options_(std::move(options)), source_(source) {}

  // None: the name is not in the zone and should be forwarded. Reverse names are in the zone only
  // if their address is known.
  std::optional<Answer> Resolve(const std::string& name, uint16_t type) const;

 private:
  Answer Forward(const std::string& name, uint16_t type) const;
  std::optional<Answer> Reverse(const std::string& name, uint16_t type) const;

  const ZoneOptions options_;
  const Source& source_;
};

}  // namespace cox::dns
