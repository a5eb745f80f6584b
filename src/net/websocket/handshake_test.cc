// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/handshake.h"

#include <gtest/gtest.h>

#include "net/websocket.h"

namespace cox::net {
namespace {

constexpr char kKey[] = "dGhlIHNhbXBsZSBub25jZQ==";

Request Asks(std::string_view protocols) {
  Request request;
  request.method = "GET";
  request.version = 1;
  request.headers = {{"connection", "keep-alive, Upgrade"},
                     {"upgrade", "WebSocket"},
                     {"sec-websocket-version", "13"},
                     {"sec-websocket-key", kKey},
                     {"sec-websocket-protocol", std::string(protocols)}};
  return request;
}

TEST(Handshake, AcceptMatchesTheExampleOfRfc6455) {
  EXPECT_EQ(WebSocketAccept(kKey), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(Handshake, KeysAreRandom) {
  EXPECT_EQ(MakeWebSocketKey().size(), 24U);
  EXPECT_NE(MakeWebSocketKey(), MakeWebSocketKey());
}

TEST(Handshake, ServerSelectsClientsFirstSupportedProtocol) {
  const auto made = AcceptClientHandshake(Asks("v9, v5,v4"), {"v4", "v5"});
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->protocol, "v5");
  EXPECT_EQ(made->headers.Get("sec-websocket-protocol"), "v5");
  EXPECT_EQ(made->headers.Get("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  const auto none = AcceptClientHandshake(Asks("v4"), {});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->protocol, "");
}

TEST(Handshake, ServerRejectsInvalidHandshakes) {
  const std::pair<const char*, std::function<void(Request&)>> cases[] = {
      {"POST", [](Request& r) { r.method = "POST"; }},
      {"HTTP/2", [](Request& r) { r.version = 2; }},
      {"no upgrade", [](Request& r) { r.headers.Remove("upgrade"); }},
      {"another upgrade", [](Request& r) { r.headers.Set("upgrade", "h2c"); }},
      {"no connection", [](Request& r) { r.headers.Set("connection", "close"); }},
      {"old version", [](Request& r) { r.headers.Set("sec-websocket-version", "8"); }},
      {"no key", [](Request& r) { r.headers.Remove("sec-websocket-key"); }},
      {"two keys", [](Request& r) { r.headers.Add("sec-websocket-key", kKey); }},
      {"short key", [](Request& r) { r.headers.Set("sec-websocket-key", "dGhl"); }},
      {"no base64",
       [](Request& r) { r.headers.Set("sec-websocket-key", "!!!!IHNhbXBsZSBub25jZQ=="); }},
      {"no protocol", [](Request& r) { r.headers.Remove("sec-websocket-protocol"); }},
      {"other protocol", [](Request& r) { r.headers.Set("sec-websocket-protocol", "v3"); }},
  };
  for (const auto& [what, change] : cases) {
    Request request = Asks("v4");
    change(request);
    EXPECT_TRUE(AcceptClientHandshake(request, {"v4"}).status().Is(Reason::kBadRequest)) << what;
  }
}

TEST(Handshake, ClientRejectsInvalidResponses) {
  const auto answer = [] {
    return Headers{{"connection", "upgrade"},
                   {"upgrade", "websocket"},
                   {"sec-websocket-accept", WebSocketAccept(kKey)},
                   {"sec-websocket-protocol", "v4"}};
  };
  EXPECT_EQ(*CheckServerHandshake(answer(), kKey, {"v5", "v4"}), "v4");
  const std::pair<const char*, std::function<void(Headers&)>> cases[] = {
      {"another key", [](Headers& h) { h.Set("sec-websocket-accept", WebSocketAccept("x")); }},
      {"no key", [](Headers& h) { h.Remove("sec-websocket-accept"); }},
      {"no upgrade", [](Headers& h) { h.Remove("upgrade"); }},
      {"extension", [](Headers& h) { h.Add("sec-websocket-extensions", "permessage-deflate"); }},
      {"no protocol", [](Headers& h) { h.Remove("sec-websocket-protocol"); }},
      {"not offered", [](Headers& h) { h.Set("sec-websocket-protocol", "v3"); }},
      {"two", [](Headers& h) { h.Set("sec-websocket-protocol", "v4, v5"); }},
  };
  for (const auto& [what, change] : cases) {
    Headers headers = answer();
    change(headers);
    EXPECT_TRUE(CheckServerHandshake(headers, kKey, {"v5", "v4"}).status().Is(Reason::kBadRequest))
        << what;
  }
}

}  // namespace
}  // namespace cox::net
