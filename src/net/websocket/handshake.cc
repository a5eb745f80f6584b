// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/handshake.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/strings.h"
#include "net/websocket.h"

namespace cox::net {
namespace {

constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr size_t kNonceBytes = 16;

std::string Base64(const unsigned char* bytes, size_t size) {
  std::string text((size + 2) / 3 * 4 + 1, '\0');
  text.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                  bytes, static_cast<int>(size))));
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The elements of a list header, over all its lines.
std::vector<std::string> Elements(const Headers& headers, std::string_view name) {
  std::vector<std::string> all;
  for (const std::string_view line : headers.All(name)) {
    for (const std::string_view part : Split(line, ',')) {
      if (const std::string_view element = TrimSpace(part); !element.empty()) {
        all.emplace_back(element);
      }
    }
  }
  return all;
}

bool HasToken(const Headers& headers, std::string_view name, std::string_view token) {
  const std::vector<std::string> all = Elements(headers, name);
  return std::any_of(all.begin(), all.end(),
                     [token](const std::string& element) { return Lower(element) == token; });
}

bool IsNonce(std::string_view key) {
  if (key.size() != 24 || key.substr(22) != "==") return false;
  std::array<unsigned char, 18> bytes{};
  return EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(key.data()), 24) ==
         18;
}

}  // namespace

bool IsWebSocketRequest(const Request& request) {
  return request.version == 1 && HasToken(request.headers, "connection", "upgrade") &&
         HasToken(request.headers, "upgrade", "websocket");
}

std::string MakeWebSocketKey() {
  std::array<unsigned char, kNonceBytes> nonce{};
  COX_CHECK(RAND_bytes(nonce.data(), kNonceBytes) == 1) << "no randomness";
  return Base64(nonce.data(), nonce.size());
}

std::string WebSocketAccept(std::string_view key) {
  const std::string text = std::string(key).append(kMagic);
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return Base64(digest.data(), digest.size());
}

void AddClientHandshake(const std::string& key, const std::vector<std::string>& protocols,
                        Request* request) {
  request->headers.Set("sec-websocket-version", "13");
  request->headers.Set("sec-websocket-key", key);
  if (!protocols.empty()) request->headers.Set("sec-websocket-protocol", Join(protocols, ", "));
}

Result<std::string> CheckServerHandshake(const Headers& headers, const std::string& key,
                                         const std::vector<std::string>& protocols) {
  const auto bad = [](std::string_view what) {
    return Status::BadRequest("WebSocket handshake: the server " + std::string(what));
  };
  if (!HasToken(headers, "connection", "upgrade") || !HasToken(headers, "upgrade", "websocket")) {
    return bad("switched to another protocol");
  }
  if (headers.Get("sec-websocket-accept").value_or("") != WebSocketAccept(key)) {
    return bad("answered another key");
  }
  if (!Elements(headers, "sec-websocket-extensions").empty()) {
    return bad("uses an extension that was not offered");
  }
  const std::vector<std::string> chosen = Elements(headers, "sec-websocket-protocol");
  if (chosen.empty() && protocols.empty()) return std::string();
  if (chosen.size() != 1 ||
      std::find(protocols.begin(), protocols.end(), chosen[0]) == protocols.end()) {
    return bad("chose none of the protocols " + Join(protocols, ", "));
  }
  return chosen[0];
}

Result<ServerHandshake> AcceptClientHandshake(const Request& request,
                                              const std::vector<std::string>& supported) {
  if (request.method != "GET" || !IsWebSocketRequest(request)) {
    return Status::BadRequest("Upgrade request required");
  }
  if (request.headers.Get("sec-websocket-version").value_or("") != "13") {
    return Status::BadRequest("WebSocket handshake: only version 13 is supported");
  }
  const std::vector<std::string_view> keys = request.headers.All("sec-websocket-key");
  if (keys.size() != 1 || !IsNonce(keys[0])) {
    return Status::BadRequest("WebSocket handshake: missing or bad Sec-WebSocket-Key");
  }
  ServerHandshake handshake;
  handshake.headers.Add("sec-websocket-accept", WebSocketAccept(keys[0]));
  if (supported.empty()) return handshake;
  for (const std::string& wanted : Elements(request.headers, "sec-websocket-protocol")) {
    if (std::find(supported.begin(), supported.end(), wanted) == supported.end()) continue;
    handshake.protocol = wanted;
    handshake.headers.Add("sec-websocket-protocol", wanted);
    return handshake;
  }
  return Status::BadRequest("WebSocket handshake: supported protocols are " +
                            Join(supported, ", "));
}

}  // namespace cox::net
