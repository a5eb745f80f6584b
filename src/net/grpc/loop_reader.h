// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "base/clock.h"
#include "net/io/event_loop.h"

namespace cox::net::grpc {
class Connection;
}

namespace cox::net::grpc::internal {

// Reads and flushes a Connection on an event loop.
//
// Threads: Start, Wake and FlushSoon from any thread; the rest on the loop's thread.
// Ownership: owned by its connection, which calls Detach before it closes the descriptor.
class LoopReader final : public Flushable {
 public:
  LoopReader(std::shared_ptr<EventLoop> loop, int fd);

  void Start(std::weak_ptr<Connection> connection);
  // Called by the destructor of the connection: after that nothing uses the descriptor.
  void Detach();
  // Checks soon whether the connection was closed, or waits to write.
  void Wake();
  // False: the caller is not on the loop, and must flush the connection itself.
  bool FlushSoon();

 private:
  void Flush() override;
  void Begin();
  void OnReadable(Connection& connection);
  void WaitWritable();
  // Ends the connection if it was closed or the server does not respond. Checks again later as long
  // as calls are in progress.
  void Check(Connection& connection);
  void CheckConnection();
  void End(Connection& connection);
  // Calls work(*this) on the loop, unless this was destroyed meanwhile.
  template <class Work>
  void OnLoop(Work work);
  // Calls then(*this, connection) when the socket is ready for `event`, unless one of them was
  // destroyed meanwhile.
  template <class Then>
  void AwaitReady(boost::asio::posix::descriptor_base::wait_type event, Then then);
  // The loop must not keep this alive, because this keeps the loop alive.
  std::weak_ptr<LoopReader> Weak() {
    return std::static_pointer_cast<LoopReader>(shared_from_this());
  }

  const std::shared_ptr<EventLoop> loop_;
  const int fd_;
  std::weak_ptr<Connection> connection_;  // constant after Start
  // Loop thread only.
  boost::asio::posix::stream_descriptor descriptor_;
  bool ended_ = false;
  bool waits_to_write_ = false;
  bool check_scheduled_ = false;
  Timer check_;
};

}  // namespace cox::net::grpc::internal
