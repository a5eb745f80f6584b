// SPDX-License-Identifier: Apache-2.0
#include "testkit/faults/proxy_link.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace cox::testkit {

using boost::asio::ip::tcp;
using boost::system::error_code;

ProxyLink::ProxyLink(net::EventLoop& loop, const ProxyRules& rules, tcp::socket client,
                     std::function<void(ProxyLink&)> on_end)
    : loop_(loop),
      rules_(rules),
      on_end_(std::move(on_end)),
      client_(std::move(client)),
      server_(loop.io()),
      cut_after_(rules.cut_after) {}

void ProxyLink::Connect(uint16_t port) {
  server_.async_connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), port),
                        [self = shared_from_this()](const error_code& error) {
                          if (self->over_) return;
                          if (error) return self->Reset();
                          self->connected_ = true;
                          error_code ignored;
                          self->client_.set_option(tcp::no_delay(true), ignored);
                          self->server_.set_option(tcp::no_delay(true), ignored);
                          self->Read(self->up_);
                          self->Read(self->down_);
                        });
}

void ProxyLink::Reset() {
  error_code ignored;
  // With a linger time of 0, unsent data is dropped and the peer gets a RST.
  const boost::asio::socket_base::linger at_once(true, 0);
  client_.set_option(at_once, ignored);
  if (connected_) server_.set_option(at_once, ignored);
  End();
}

void ProxyLink::End() {
  if (std::exchange(over_, true)) return;
  error_code ignored;
  client_.close(ignored);
  server_.close(ignored);
  up_.timer = {};
  down_.timer = {};
  on_end_(*this);
}

void ProxyLink::GoOn() {
  for (Direction* direction : {&up_, &down_}) {
    if (over_ || !std::exchange(direction->held, false)) continue;
    direction->filled > 0 ? Write(*direction) : Read(*direction);
  }
}

void ProxyLink::Read(Direction& direction) {
  if (over_) return;
  direction.filled = 0;
  if (rules_.paused) {
    direction.held = true;
    return;
  }
  direction.from.async_read_some(
      boost::asio::buffer(direction.buffer),
      [self = shared_from_this(), &direction](const error_code& error, size_t size) {
        if (self->over_) return;
        if (error == boost::asio::error::eof) return self->PassOnEnd(direction);
        if (error) return self->Reset();
        direction.filled = size;
        self->Delay(direction);
      });
}

void ProxyLink::Delay(Direction& direction) {
  if (rules_.delay <= Clock::Duration::zero()) return Write(direction);
  direction.timer = loop_.clock().After(
      rules_.delay, [loop = loop_.shared_from_this(), weak = weak_from_this(), &direction] {
        loop->Post([weak, &direction] {
          if (const auto self = weak.lock()) self->Write(direction);
        });
      });
}

void ProxyLink::Write(Direction& direction) {
  if (over_) return;
  if (rules_.paused) {
    direction.held = true;
    return;
  }
  size_t size = direction.filled;
  if (direction.to_client && cut_after_) {
    size = std::min(size, *cut_after_);
    *cut_after_ -= size;
  }
  boost::asio::async_write(
      direction.to, boost::asio::buffer(direction.buffer.data(), size),
      [self = shared_from_this(), &direction](const error_code& error, size_t) {
        if (self->over_) return;
        const bool cut = direction.to_client && self->cut_after_ && *self->cut_after_ == 0;
        if (error || cut) return self->Reset();
        self->Read(direction);
      });
}

void ProxyLink::PassOnEnd(Direction& direction) {
  direction.ended = true;
  if (up_.ended && down_.ended) return End();
  error_code ignored;
  direction.to.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace cox::testkit
