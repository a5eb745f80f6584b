// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lru_map.h"
#include "dns/server/metrics.h"
#include "dns/wire/message.h"

namespace cox::dns {

struct Upstream {
  std::string ip;
  uint16_t port = 53;
  bool operator==(const Upstream&) const = default;
};

struct ForwardOptions {
  // Queried in this order, starting with the one that answered last; empty: nothing is forwarded.
  std::vector<Upstream> upstreams;
  std::chrono::milliseconds timeout{2000};  // of one attempt
  int rounds = 2;                           // over all upstreams
  size_t max_in_flight = 1000;
  size_t cache_entries = 10'000;
  std::chrono::seconds max_cached{30};
};

// "192.0.2.53", "192.0.2.53:5353", "2001:db8::53", "[2001:db8::53]:5353". None if it is invalid.
std::optional<Upstream> ParseUpstream(std::string_view text);

// The nameservers of a resolv.conf.
std::vector<Upstream> ParseResolvConf(std::string_view text);

// Forwards queries to other servers and caches the answers.
//
// Security: each query has a random id and its own socket, and only a response of that server to
//   that question is accepted: an attacker has to guess both id and port.
// Threads: the event loop's thread only.
// Lifetime: pending queries end with the event loop.
class Forwarder {
 public:
  // The server's response, with the query's own id; none if no server responded.
  using Done = std::function<void(std::optional<std::string> answer)>;

  Forwarder(boost::asio::io_context& loop, Clock& clock, ForwardOptions options, Metrics& metrics);
  ~Forwarder();

  bool enabled() const { return !options_.upstreams.empty(); }
  // `tcp`: the client uses TCP, so long answers are possible.
  void Forward(const Query& query, bool tcp, Done done);

 private:
  struct Cached {
    std::string answer;
    std::vector<size_t> ttl_offsets;
    Clock::SteadyTime stored;
    Clock::SteadyTime expires;
  };
  class Attempt;

  std::optional<std::string> FromCache(const Query& query, const std::string& key);
  void Store(const std::string& key, const std::string& answer, const Scanned& scanned);

  boost::asio::io_context& loop_;
  Clock& clock_;
  const ForwardOptions options_;
  Metrics& metrics_;
  LruMap<Cached> cache_;
  size_t first_ = 0;  // the upstream to query first
  size_t in_flight_ = 0;
};

}  // namespace cox::dns
