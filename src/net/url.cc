// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/strings.h"

namespace cox::net {
namespace {

Status Bad(std::string_view why) { return Status::BadRequest("bad URL: " + std::string(why)); }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> Decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Status ReadUser(std::string_view text, Url* url) {
  const CutResult parts = Cut(text, ':');
  const std::optional<std::string> username = Decode(parts.before);
  const std::optional<std::string> password = Decode(parts.after);
  if (!username || !password) return Bad("invalid user information");
  url->username = *username;
  url->password = *password;
  return {};
}

Status ReadHost(std::string_view text, Url* url) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return Bad("missing ']' in host");
    url->host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) return Bad("invalid port");
  } else {
    const size_t colon = text.find(':');
    url->host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon);
  }
  if (url->host.empty()) return Bad("no host");
  if (port.size() <= 1) return {};
  port.remove_prefix(1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url->port);
  if (error != std::errc() || end != port.data() + port.size() || url->port == 0) {
    return Bad("invalid port");
  }
  return {};
}

}  // namespace

std::string Url::Authority() const {
  const std::string name = host.find(':') != std::string::npos ? "[" + host + "]" : host;
  return port == 0 ? name : name + ":" + std::to_string(port);
}

Result<Url> ParseUrl(std::string_view text) {
  const auto printable = [](char c) { return c > ' ' && c != '\x7f'; };
  if (!std::ranges::all_of(text, printable)) return Bad("blanks or control characters");
  const size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return Bad("it must begin with a scheme");
  Url url;
  for (const char c : text.substr(0, colon)) {
    url.scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::string_view rest = text.substr(colon + 3);
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return Bad("it must not have a query or a fragment");
  }
  const size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (slash != std::string_view::npos) url.path = rest.substr(slash);
  while (url.path.ends_with('/')) url.path.pop_back();
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    COX_RETURN_IF_ERROR(ReadUser(authority.substr(0, at), &url));
    authority.remove_prefix(at + 1);
  }
  COX_RETURN_IF_ERROR(ReadHost(authority, &url));
  return url;
}

}  // namespace cox::net
