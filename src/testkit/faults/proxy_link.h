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

// What is done to the connections of a FaultyProxy. Of its loop's thread.
struct ProxyRules {
  bool paused = false;
  bool refusing = false;
  Clock::Duration delay{};
  std::optional<size_t> cut_after;  // for connections to come
};

// A client's connection and the one to the server that stands for it. Of the loop's thread.
//
// Lifetime: shared with its pending operations, which Reset ends. `loop` and `rules` outlive those.
class ProxyLink : public std::enable_shared_from_this<ProxyLink> {
 public:
  ProxyLink(net::EventLoop& loop, const ProxyRules& rules, boost::asio::ip::tcp::socket client,
            std::function<void(ProxyLink&)> on_end);

  void Connect(uint16_t port);
  void Reset();
  // The rules have changed: what was held back may go on.
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
    bool held = false;   // by a pause: at a read, or with what `filled` says
    bool ended = false;  // its end was passed on
    Timer timer;         // of a delay
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
