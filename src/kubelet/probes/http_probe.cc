// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "kubelet/pod/containers.h"
#include "kubelet/probes/probe.h"
#include "net/client.h"
#include "net/fetch.h"
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

// One HTTP probe with its redirects.
class HttpRun : public std::enable_shared_from_this<HttpRun> {
 public:
  HttpRun(const Context& ctx, std::shared_ptr<net::EventLoop> loop,
          const core::v1::HTTPGetAction& action, Place place, Prober::Done done)
      : ctx_(ctx),
        loop_(std::move(loop)),
        action_(action),
        url_(std::string(place.tls ? "https" : "http") + "://" + Authority(place) + place.target),
        place_(std::move(place)),
        done_(std::move(done)) {}

  void Send() {
    net::ClientOptions options{.host = place_.host,
                               .port = place_.port,
                               .tls = place_.tls,
                               .tls_options = {},
                               .proxy = {},
                               .http2 = place_.tls,
                               .loop = loop_};
    options.tls_options.insecure = true;  // the probe checks liveness, not identity
    // The body is ignored, but a server that hangs while it sends one fails the probe.
    options.max_response_bytes = kMaxProbeOutput;
    net::Fetch(ctx_, std::move(options), MakeRequest(place_, action_),
               [self = shared_from_this()](const Result<net::Fetched>& answer) {
                 self->OnAnswer(answer);
               });
  }

 private:
  void OnAnswer(const Result<net::Fetched>& answer) {
    if (!answer.ok()) return Fail(answer.status().message());
    const int code = answer->status;
    const std::string_view location = answer->headers.Get("location").value_or("");
    if (IsRedirect(code) && !location.empty()) {
      std::optional<Place> next = Follow(place_, std::string(location));
      // As upstream: a redirect to another host is a success.
      if (!next) return done_(ProbeReply::Success("Probe terminated redirects"));
      if (++redirects_ > kMaxRedirects) return Fail("stopped after 10 redirects");
      place_ = *std::move(next);
      return Send();
    }
    if (code >= 200 && code < 400) return done_(ProbeReply::Success());
    done_(ProbeReply::Failure("HTTP probe failed with statuscode: " + std::to_string(code)));
  }
  void Fail(const std::string& why) {
    done_(ProbeReply::Failure("Get " + Quote(url_) + ": " + why));
  }

  const Context ctx_;
  const std::shared_ptr<net::EventLoop> loop_;
  const core::v1::HTTPGetAction action_;
  const std::string url_;  // without redirects
  Place place_;
  int redirects_ = 0;
  const Prober::Done done_;
};

}  // namespace

void Prober::HttpGet(const Context& ctx, const ProbeTarget& target, Done done) {
  const core::v1::HTTPGetAction& action = *target.handler.httpGet;
  Place place{.tls = Lower(action.scheme) == "https",
              .host = action.host.empty() ? target.pod_ip : action.host,
              .port = ResolvePort(action.port, target.container),
              .target = action.path.starts_with('/') ? action.path : "/" + action.path};
  if (place.port == 0) return done(ProbeReply::Error("invalid port " + action.port.ToString()));
  if (!loop_.ok()) return done(ProbeReply::Error(loop_.status().message()));
  std::make_shared<HttpRun>(ctx, *loop_, action, std::move(place),
                            [done = std::move(done), pending = pending_.Begin()](ProbeReply reply) {
                              done(std::move(reply));
                            })
      ->Send();
}

}  // namespace cox::kubelet
