// SPDX-License-Identifier: Apache-2.0
#include "net/grpc/loop_reader.h"

#include <optional>
#include <utility>

#include "net/grpc/connection.h"

namespace cox::net::grpc::internal {

using boost::asio::posix::descriptor_base;

LoopReader::LoopReader(std::shared_ptr<EventLoop> loop, int fd)
    : loop_(std::move(loop)), fd_(fd), descriptor_(loop_->io()) {}

template <class Work>
void LoopReader::OnLoop(Work work) {
  loop_->Post([weak = Weak(), work] {
    if (const auto self = weak.lock()) work(*self);
  });
}

template <class Then>
void LoopReader::AwaitReady(descriptor_base::wait_type event, Then then) {
  descriptor_.async_wait(event, [weak = Weak(), then](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || self == nullptr) return;
    const auto connection = self->connection_.lock();
    if (connection != nullptr) then(*self, *connection);
  });
}

void LoopReader::Start(std::weak_ptr<Connection> connection) {
  connection_ = std::move(connection);
  OnLoop([](LoopReader& self) { self.Begin(); });
}

void LoopReader::Begin() {
  const std::shared_ptr<Connection> connection = connection_.lock();
  if (connection == nullptr) return;
  boost::system::error_code error;
  descriptor_.assign(fd_, error);
  if (error) return End(*connection);
  connection->OnWritable();  // sends the settings
  // TLS may have read beyond the handshake, which the loop does not report.
  OnReadable(*connection);
}

void LoopReader::Detach() {
  check_.Cancel();
  // The descriptor belongs to the connection's socket.
  if (descriptor_.is_open()) descriptor_.release();
}

void LoopReader::OnReadable(Connection& connection) {
  if (ended_) return;
  if (!connection.ReadAll(loop_->received())) return End(connection);
  AwaitReady(descriptor_base::wait_read,
             [](LoopReader& self, Connection& ready) { self.OnReadable(ready); });
}

bool LoopReader::FlushSoon() {
  if (!loop_->InLoop()) return false;
  loop_->FlushSoon(*this);
  return true;
}

void LoopReader::Flush() {
  const std::shared_ptr<Connection> connection = connection_.lock();
  if (connection == nullptr) return;
  connection->Flush();
  if (!ended_ && !check_scheduled_) Check(*connection);
}

void LoopReader::Wake() {
  OnLoop([](LoopReader& self) { self.CheckConnection(); });
}

void LoopReader::CheckConnection() {
  const std::shared_ptr<Connection> connection = connection_.lock();
  if (connection != nullptr) Check(*connection);
}

void LoopReader::Check(Connection& connection) {
  if (ended_) return;
  const std::optional<std::chrono::milliseconds> next = connection.CheckAlive();
  if (!next.has_value()) return End(connection);
  if (connection.WaitsToWrite()) WaitWritable();
  if (check_scheduled_ || !connection.HasCalls()) return;
  check_scheduled_ = true;
  check_ = loop_->clock().After(*next, [weak = Weak()] {
    const auto reader = weak.lock();
    if (reader == nullptr) return;
    reader->OnLoop([](LoopReader& self) {
      self.check_scheduled_ = false;
      self.CheckConnection();
    });
  });
}

void LoopReader::WaitWritable() {
  if (std::exchange(waits_to_write_, true)) return;
  AwaitReady(descriptor_base::wait_write, [](LoopReader& self, Connection& connection) {
    self.waits_to_write_ = false;
    connection.OnWritable();
  });
}

void LoopReader::End(Connection& connection) {
  ended_ = true;
  check_.Cancel();
  if (descriptor_.is_open()) descriptor_.release();
  connection.Fail();
}

}  // namespace cox::net::grpc::internal
