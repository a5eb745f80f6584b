// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "net/io/event_loop.h"

namespace cox::testkit {

// The faults of a FaultyProxy. Used on the event loop's thread only.
struct ProxyRules {
  bool paused = false;
  bool refusing = false;
  Clock::Duration delay{};
  std::optional<size_t> cut_after;  // for new connections
};

// A client's connection and the corresponding connection to the server. Used on the event loop's
// thread only.
//
// Lifetime: shared with its pending operations, which Reset cancels. `loop` and `rules` outlive
//   them.
class ProxyLink : public std::enable_shared_from_this<ProxyLink> {
 public:
  ProxyLink(net::EventLoop& loop, const ProxyRules& rules, boost::asio::ip::tcp::socket client,
            std::function<void(ProxyLink&)> on_end);

  void Connect(uint16_t port);
  void Reset();
  // The rules have changed: continues with data that was held back.
  void GoOn();
  void set_cut_after(std::optional<size_t> bytes) { cut_after_ = bytes; }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  struct Direction {
    Socket& from;
    Socket& to;
    bool to_client;
    std::array<char, size_t{16} * 1024> buffer{};
    size_t filled = 0;
    bool held = false;   // by a pause: before a read, or with `filled` bytes to write
    bool ended = false;  // end of stream was forwarded
    Timer timer;         // of the delay
  };

  void Read(Direction& direction);
  void Delay(Direction& direction);
  void Write(Direction& direction);
  void PassOnEnd(Direction& direction);
  void End();

  net::EventLoop& loop_;
  const ProxyRules& rules_;
  const std::function<void(ProxyLink&)> on_end_;
  Socket client_;
  Socket server_;
  Direction up_{client_, server_, false};
  Direction down_{server_, client_, true};
  bool connected_ = false;
  bool over_ = false;
  std::optional<size_t> cut_after_;
};

}  // namespace cox::testkit
