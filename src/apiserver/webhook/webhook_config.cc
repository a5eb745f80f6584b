// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/webhook_config.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// Splits "host", "host:port", "[::1]" or "[::1]:port" into host and port.
bool SplitAuthority(std::string_view authority, WebhookUrl* url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t close = authority.find(']');
    if (close == std::string_view::npos) return false;
    url->host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
  } else {
    const size_t colon = authority.find(':');
    url->host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (url->host.empty()) return false;
  if (port.empty()) return true;
  port.remove_prefix(1);
  if (port.empty()) return true;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url->port);
  return error == std::errc() && end == port.data() + port.size() && url->port != 0;
}

}  // namespace

Result<WebhookUrl> ParseWebhookUrl(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return Status::BadRequest("parse " + Quote(text) + ": " + std::string(why));
  };
  WebhookUrl url;
  std::string_view rest = text;
  const auto takes = [&](std::string_view scheme) {
    const bool found = rest.size() >= scheme.size() &&
                       std::equal(scheme.begin(), scheme.end(), rest.begin(), [](char a, char b) {
                         return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
                       });
    if (found) rest.remove_prefix(scheme.size());
    return found;
  };
  if (takes("http://")) {
    url.tls = false;
    url.port = 80;
  } else if (!takes("https://")) {
    return bad("the scheme must be https");
  }
  if (rest.find('#') != std::string_view::npos) return bad("fragments are not permitted");
  const size_t path = rest.find_first_of("/?");
  url.authority = rest.substr(0, path);
  if (url.authority.find('@') != std::string::npos) {
    return bad("user information is not permitted");
  }
  if (!SplitAuthority(url.authority, &url)) return bad("invalid host or port");
  if (path != std::string_view::npos) url.target = rest.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  const auto printable = [](char c) { return c > ' ' && c != '\x7f'; };
  if (!std::all_of(rest.begin(), rest.end(), printable)) return bad("invalid character in URL");
  return url;
}

WebhookConfig ServiceWebhook(const std::string& ns, const std::string& name,
                             const std::optional<std::string>& path,
                             const std::optional<int32_t>& port) {
  WebhookConfig config;
  config.service = WebhookConfig::Service{
      .ns = ns, .name = name, .port = static_cast<uint16_t>(port.value_or(443))};
  config.server_name = name + "." + ns + ".svc";
  config.url = "https://" + config.server_name + ":" + std::to_string(config.service->port);
  if (path && !path->empty()) {
    if (!path->starts_with('/')) config.url += '/';
    config.url += *path;
  }
  return config;
}

}  // namespace cox::apiserver
