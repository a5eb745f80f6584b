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

// From the bytes of a query to the bytes of its answer.
//
// Threads: the loop's only.
class Responder {
 public:
  // Called once, at once or later; empty: no answer.
  using Reply = std::function<void(std::string answer)>;

  Responder(const Zone& zone, Forwarder& forwarder, Clock& clock, Metrics& metrics, Logger log);

  void Respond(std::string_view bytes, bool tcp, Reply reply);
  // Sends a question that nobody else asks; when it comes back, upstreams lead to ourselves, and
  // nothing is forwarded any more.
  void ProbeForLoop();
  bool loop_found() const { return loop_found_; }

 private:
  void Finish(const Query& query, bool tcp, const char* zone, Clock::SteadyTime start,
              Answer answer, const Reply& reply);
  void Forward(const Query& query, bool tcp, Clock::SteadyTime start, Reply reply);
  // An alias that leads out of a Service: clients want to know what is at its end.
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
