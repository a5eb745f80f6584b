// SPDX-License-Identifier: Apache-2.0
#include "net/tcp.h"

#include <gtest/gtest.h>

#include "base/scope.h"

namespace cox::net {
namespace {

struct Pair {
  Pair() {
    listener = *TcpListener::Listen("127.0.0.1", 0);
    near = *TcpSocket::Connect(context, "127.0.0.1", listener->port());
    far = *listener->Accept(context);
  }
  std::string ReadAll(TcpSocket& socket) {
    std::string all;
    char buffer[4096];
    for (;;) {
      const auto got = socket.Read(context, buffer, sizeof(buffer));
      if (!got.ok()) return got.status().ToString();
      if (*got == 0) return all;
      all.append(buffer, *got);
    }
  }

  RealClock clock;
  Context context = Context(clock).WithTimeout(std::chrono::seconds(60));
  std::unique_ptr<TcpListener> listener;
  std::unique_ptr<TcpSocket> near;
  std::unique_ptr<TcpSocket> far;
};

TEST(Tcp, TransfersMoreThanKernelBuffersAndHalfCloses) {
  Pair pair;
  const std::string much(20'000'000, 'x');
  Scope scope(pair.context, "writer");
  ASSERT_TRUE(scope
                  .Go("write",
                      [&](Context& ctx) {
                        EXPECT_TRUE(pair.near->Write(ctx, much).ok());
                        pair.near->EndWriting();
                      })
                  .ok());
  EXPECT_EQ(pair.ReadAll(*pair.far).size(), much.size());
  scope.Wait();
  ASSERT_TRUE(pair.far->Write(pair.context, "answer").ok());
  pair.far.reset();
  EXPECT_EQ(pair.ReadAll(*pair.near), "answer");
}

TEST(Tcp, StoppedContextEndsEveryWait) {
  Pair pair;
  const auto soon = [&] { return pair.context.WithTimeout(std::chrono::milliseconds(20)); };
  char buffer[10];
  EXPECT_TRUE(pair.near->Read(soon(), buffer, sizeof(buffer)).status().Is(Reason::kTimeout));
  EXPECT_TRUE(pair.listener->Accept(soon()).status().Is(Reason::kTimeout));
  EXPECT_TRUE(pair.near->Write(soon(), std::string(50'000'000, 'x')).Is(Reason::kTimeout));
}

TEST(Tcp, ReturnsErrorsOfListenAndConnect) {
  Pair pair;
  EXPECT_TRUE(TcpListener::Listen("127.0.0.1", pair.listener->port())
                  .status()
                  .Is(Reason::kServiceUnavailable));
  EXPECT_TRUE(TcpListener::Listen("localhost", 0).status().Is(Reason::kBadRequest));
  const uint16_t port = pair.listener->port();
  pair.listener.reset();
  EXPECT_TRUE(
      TcpSocket::Connect(pair.context, "127.0.0.1", port).status().Is(Reason::kServiceUnavailable));
}

}  // namespace
}  // namespace cox::net
