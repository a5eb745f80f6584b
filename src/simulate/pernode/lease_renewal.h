// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/v1.h"
#include "simulate/pernode/backoff.h"
#include "simulate/pernode/node_connection.h"

namespace cox::simulate {

// Renews the Lease of a node: with one request per period while the stored resource version is
// current, and again with backoff after a failure. Renewals wait for no other write of the process.
//
// Threads: the loop's thread.
class LeaseRenewal {
 public:
  LeaseRenewal(NodeConnection& connection, int number);

  // Renews at once, and then periodically unless `once`. `node` is the registered Node, which owns
  // the Lease.
  void Start(const core::v1::Node& node, bool once = false);
  void Stop();
  // Whether the Lease was renewed at least once.
  bool renewed() const { return renewed_.has_value(); }

 private:
  void Due();
  void Send();
  void Create();
  void Update();
  void Read();
  void OnWritten(const Reply& reply);
  void OnRead(const Reply& reply);
  void Retry();

  NodeConnection& connection_;
  const int number_;
  core::v1::Node owner_;  // only its name and UID
  bool running_ = false;
  bool once_ = false;
  bool in_flight_ = false;
  bool exists_ = false;  // the Lease may exist: its version must be read
  std::string version_;
  Clock::SteadyTime due_{};
  std::optional<Clock::SteadyTime> renewed_;
  Backoff backoff_;
  LoopTimer timer_;
};

}  // namespace cox::simulate
