// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <random>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "dns/server/forwarder.h"
#include "dns/server/metrics.h"
#include "dns/zone/zone.h"

namespace cox::dns {

// Converts a query message to a response message.
//
// Threads: the event loop's thread only.
class Responder {
 public:
  // Called once, synchronously or later; empty: no response.
  using Reply = std::function<void(std::string answer)>;

  Responder(const Zone& zone, Forwarder& forwarder, Clock& clock, Metrics& metrics, Logger log);

  void Respond(std::string_view bytes, bool tcp, Reply reply);
  // Sends a query with a random name upstream. If it comes back, the upstreams forward to this
  // server, and forwarding is disabled.
  void ProbeForLoop();
  bool loop_found() const { return loop_found_; }

 private:
  void Finish(const Query& query, bool tcp, const char* zone, Clock::SteadyTime start,
              Answer answer, const Reply& reply);
  void Forward(const Query& query, bool tcp, Clock::SteadyTime start, Reply reply);
  // Resolves the target of a CNAME that leads out of the zone, because clients expect its
  // addresses.
  void Follow(const Query& query, bool tcp, Clock::SteadyTime start, Answer answer, Reply reply,
              int depth);

  const Zone& zone_;
  Forwarder& forwarder_;
  Clock& clock_;
  Metrics& metrics_;
  const Logger log_;
  std::minstd_rand shuffle_;
  std::string probe_;
  bool loop_found_ = false;
};

}  // namespace cox::dns
