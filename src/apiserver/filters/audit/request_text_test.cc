// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/request_text.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

net::Request From(std::string address, net::Headers headers) {
  net::Request request;
  auto peer = std::make_shared<net::Peer>();
  peer->address = std::move(address);
  request.peer = std::move(peer);
  request.headers = std::move(headers);
  return request;
}

TEST(AuditRequestTextTest, SourceIpsAreForwardedAddressesAndPeer) {
  using Ips = std::vector<std::string>;
  const struct {
    std::string_view peer, forwarded, real;
    Ips ips;
  } kCases[] = {
      {"127.0.0.1:4711", "", "", {"127.0.0.1"}},
      {"[2001:db8::1]:4711", "", "", {"2001:db8::1"}},
      {"10.0.0.9:1", "1.2.3.4, 10.0.0.9", "", {"1.2.3.4", "10.0.0.9"}},
      {"10.0.0.9:1", "1.2.3.4", "1.2.3.4", {"1.2.3.4", "10.0.0.9"}},
      {"10.0.0.9:1", "1.2.3.4", "5.6.7.8", {"1.2.3.4", "5.6.7.8", "10.0.0.9"}},
      // Values that are not IP addresses are ignored.
      {"10.0.0.9:1", "unknown, \"><script>, 2001:DB8::0:1", "x", {"2001:db8::1", "10.0.0.9"}},
      {"pipe", "", "", {}},
  };
  for (const auto& c : kCases) {
    net::Headers headers;
    if (!c.forwarded.empty()) headers.Add("x-forwarded-for", std::string(c.forwarded));
    if (!c.real.empty()) headers.Add("x-real-ip", std::string(c.real));
    EXPECT_EQ(SourceIps(From(std::string(c.peer), headers)), c.ips) << c.peer << " " << c.forwarded;
  }
}

TEST(AuditRequestTextTest, LongUserAgentsAreTruncated) {
  EXPECT_EQ(AuditedUserAgent(From("pipe", {{"user-agent", "kubectl/v1"}})), "kubectl/v1");
  const std::string cut = AuditedUserAgent(From("pipe", {{"user-agent", std::string(5000, 'x')}}));
  EXPECT_EQ(cut, std::string(1024, 'x') + "...TRUNCATED");
}

TEST(AuditRequestTextTest, TokensInQueryAreRedacted) {
  const struct {
    std::string_view target, uri;
  } kCases[] = {
      {"/api/v1/pods?limit=5", "/api/v1/pods?limit=5"},
      {"/api?access_token=secret", "/api?access_token=[REDACTED]"},
      {"/api?a=1&access_token=secret&b=2", "/api?a=1&access_token=[REDACTED]&b=2"},
      {"/api?access_token=s1&access_token=s2",
       "/api?access_token=[REDACTED]&access_token=[REDACTED]"},
      {"/api?my_access_token=x", "/api?my_access_token=x"},
      {"/access_token=x", "/access_token=x"},
  };
  for (const auto& c : kCases) {
    net::Request request;
    request.target = c.target;
    EXPECT_EQ(AuditedUri(request), c.uri);
  }
}

}  // namespace
}  // namespace cox::apiserver
