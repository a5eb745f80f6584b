// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "dns/wire/message.h"
#include "dns/zone/source.h"

namespace cox::dns {

struct ZoneOptions {
  std::string domain = "cluster.local";  // lower case, without a dot at the end
  uint32_t ttl = 30;
  uint32_t negative_ttl = 5;
  std::string server_ip;  // of this server as clients reach it; for NS
};

// The cluster's names as the specification of DNS-based service discovery, 1.1.0, has them.
//
// Threads: may be used concurrently.
class Zone {
 public:
  // `source` outlives it.
  Zone(ZoneOptions options, const Source& source) : options_(std::move(options)), source_(source) {}

  // None: not a name of ours; others are to be asked. Reverse names are ours only if they are
  // known.
  std::optional<Answer> Resolve(const std::string& name, uint16_t type) const;

 private:
  Answer Forward(const std::string& name, uint16_t type) const;
  std::optional<Answer> Reverse(const std::string& name, uint16_t type) const;

  const ZoneOptions options_;
  const Source& source_;
};

}  // namespace cox::dns
