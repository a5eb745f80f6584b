// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::net {
namespace {

TEST(UrlTest, ParsesUrlsOfServersAndProxies) {
  struct Case {
    const char* text;
    const char* scheme;
    const char* username;
    const char* password;
    const char* host;
    int port;
    const char* path;
    const char* authority;
  };
  const Case cases[] = {
      {"https://10.0.0.1:6443", "https", "", "", "10.0.0.1", 6443, "", "10.0.0.1:6443"},
      {"HTTPS://API.example/", "https", "", "", "API.example", 0, "", "API.example"},
      {"https://[fd00::1]:443/k8s/c-1/", "https", "", "", "fd00::1", 443, "/k8s/c-1",
       "[fd00::1]:443"},
      {"http://[::1]", "http", "", "", "::1", 0, "", "[::1]"},
      {"socks5://u%40x:p%3Aw@proxy:1080", "socks5", "u@x", "p:w", "proxy", 1080, "", "proxy:1080"},
      {"http://u:a@b@proxy:3128", "http", "u", "a@b", "proxy", 3128, "", "proxy:3128"},
      {"http://host:/a//", "http", "", "", "host", 0, "/a", "host"},
  };
  for (const Case& c : cases) {
    const auto url = ParseUrl(c.text);
    ASSERT_TRUE(url.ok()) << c.text << ": " << url.status().ToString();
    EXPECT_EQ(url->scheme, c.scheme) << c.text;
    EXPECT_EQ(url->username, c.username) << c.text;
    EXPECT_EQ(url->password, c.password) << c.text;
    EXPECT_EQ(url->host, c.host) << c.text;
    EXPECT_EQ(url->port, c.port) << c.text;
    EXPECT_EQ(url->path, c.path) << c.text;
    EXPECT_EQ(url->Authority(), c.authority) << c.text;
  }
}

TEST(UrlTest, RejectsInvalidUrlsWithoutRevealingPasswords) {
  for (const char* text :
       {"", "host:6443", "://host", "https://", "https://:443", "https://h:0", "https://h:65536",
        "https://h:12x", "https://[::1", "https://[::1]x", "https://h/?a=b", "https://h/#f",
        "https://h/a b", "https://h\r\n", "http://u:sesame%zz@h", "http://u:sesame%1@h"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.status().reason(), Reason::kBadRequest);
    EXPECT_THAT(url.status().message(), testing::Not(testing::HasSubstr("sesame")));
  }
}

}  // namespace
}  // namespace cox::net
