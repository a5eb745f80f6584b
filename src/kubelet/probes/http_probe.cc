// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "kubelet/pod/containers.h"
#include "kubelet/probes/probe.h"
#include "net/client.h"
#include "net/url.h"

namespace cox::kubelet {

namespace {

constexpr int kMaxRedirects = 10;

struct Place {
  bool tls = false;
  std::string host;
  uint16_t port = 0;
  std::string target;  // path and query
};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : static_cast<char>(c);
  });
  return text;
}

std::string Authority(const Place& place) {
  const std::string host =
      place.host.find(':') == std::string::npos ? place.host : "[" + place.host + "]";
  return host + ":" + std::to_string(place.port);
}

// Percent-encodes characters that are invalid in a request line: whitespace would allow request
// injection.
std::string Escaped(const std::string& target) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

net::Request MakeRequest(const Place& place, const core::v1::HTTPGetAction& action) {
  net::Request request{
      .method = "GET", .target = Escaped(place.target), .headers = {}, .body = {}, .peer = {}};
  for (const core::v1::HTTPHeader& header : action.httpHeaders) {
    request.headers.Add(Lower(header.name), header.value);
  }
  if (!request.headers.Get("user-agent")) {
    request.headers.Add("user-agent", std::string(kProbeUserAgent));
  }
  // An empty value removes the header.
  if (!request.headers.Get("accept")) request.headers.Add("accept", "*/*");
  if (request.headers.Get("accept") == "") request.headers.Remove("accept");
  if (request.headers.Get("user-agent") == "") request.headers.Remove("user-agent");
  request.headers.Clean();
  return request;
}

Result<std::pair<int, std::string>> Get(Context& ctx, const Place& place,
                                        const core::v1::HTTPGetAction& action) {
  net::ClientOptions options{.host = place.host,
                             .port = place.port,
                             .tls = place.tls,
                             .tls_options = {},
                             .proxy = {},
                             .http2 = place.tls};
  options.tls_options.insecure = true;  // the probe checks liveness, not identity
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<net::Client> client,
                       net::Client::Create(ctx, std::move(options)));
  COX_ASSIGN_OR_RETURN(const std::unique_ptr<net::ClientStream> stream,
                       client->Start(ctx, MakeRequest(place, action)));
  const std::optional<std::string_view> location = stream->headers().Get("location");
  std::pair<int, std::string> answer{stream->status(), location ? std::string(*location) : ""};
  // The body is ignored, but a server that hangs while it sends one fails the probe.
  size_t read = 0;
  while (read < kMaxProbeOutput) {
    COX_ASSIGN_OR_RETURN(const Bytes piece, stream->Read(ctx));
    if (piece.empty()) break;
    read += piece.size();
  }
  return answer;
}

// The target of a redirect; none if it leaves the host.
std::optional<Place> Follow(const Place& from, const std::string& location) {
  if (location.starts_with('/') && !location.starts_with("//")) {
    Place next = from;
    next.target = location;
    return next;
  }
  // ParseUrl accepts neither query nor fragment.
  std::string rest = location.substr(0, location.find('#'));
  const size_t question = rest.find('?');
  const std::string query = question == std::string::npos ? "" : rest.substr(question);
  const Result<net::Url> url = net::ParseUrl(rest.substr(0, question));
  if (!url.ok() || url->host != from.host) return std::nullopt;
  if (url->scheme != "http" && url->scheme != "https") return std::nullopt;
  const bool tls = url->scheme == "https";
  const uint16_t port = url->port != 0 ? url->port : (tls ? 443 : 80);
  return Place{tls, url->host, port, (url->path.empty() ? "/" : url->path) + query};
}

bool IsRedirect(int code) {
  return code == 301 || code == 302 || code == 303 || code == 307 || code == 308;
}

}  // namespace

ProbeReply HttpProbe(Context& ctx, const ProbeTarget& target) {
  const core::v1::HTTPGetAction& action = *target.handler.httpGet;
  Place place{.tls = Lower(action.scheme) == "https",
              .host = action.host.empty() ? target.pod_ip : action.host,
              .port = ResolvePort(action.port, target.container),
              .target = action.path.starts_with('/') ? action.path : "/" + action.path};
  if (place.port == 0) return ProbeReply::Error("invalid port " + action.port.ToString());
  const std::string url =
      std::string(place.tls ? "https" : "http") + "://" + Authority(place) + place.target;
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    const auto answer = Get(ctx, place, action);
    if (!answer.ok()) {
      return ProbeReply::Failure("Get " + Quote(url) + ": " + answer.status().message());
    }
    const int code = answer->first;
    if (IsRedirect(code) && !answer->second.empty()) {
      const std::optional<Place> next = Follow(place, answer->second);
      // As upstream: a redirect to another host is a success.
      if (!next) return ProbeReply::Success("Probe terminated redirects");
      place = *next;
      continue;
    }
    if (code >= 200 && code < 400) return ProbeReply::Success();
    return ProbeReply::Failure("HTTP probe failed with statuscode: " + std::to_string(code));
  }
  return ProbeReply::Failure("Get " + Quote(url) + ": stopped after 10 redirects");
}

}  // namespace cox::kubelet
