// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/front_proxy.h"

#include <gtest/gtest.h>

#include "apiserver/registry/validation/pem.h"
#include "base/strings.h"
#include "net/tls.h"

namespace cox::apiserver {
namespace {

class FrontProxyTest : public ::testing::Test {
 protected:
  static net::CertificatePair Make(net::CertificateRequest request,
                                   const net::CertificatePair* issuer) {
    auto made = net::MakeCertificate(request, issuer);
    EXPECT_TRUE(made.ok());
    return *made;
  }
  net::Request From(const std::string& name, const net::CertificatePair& issuer,
                    net::Headers headers) {
    const net::CertificatePair pair = Make({.common_name = name, .client_auth = true}, &issuer);
    std::string_view pem = pair.certificate_pem;
    auto peer = std::make_shared<net::Peer>();
    peer->certificates.push_back(NextPemBlock(pem)->bytes);
    net::Request request;
    request.headers = std::move(headers);
    request.peer = std::move(peer);
    return request;
  }
  std::unique_ptr<const AuthMethod> Method(std::vector<std::string> allowed) {
    return NewFrontProxyMethod([cas = *CaPool::Parse(ca_.certificate_pem)] { return cas; },
                               {.client_ca_file = "unused",
                                .allowed_names = std::move(allowed),
                                .username_headers = {"X-Remote-User", "X-Who"},
                                .uid_headers = {"X-Remote-Uid"},
                                .group_headers = {"X-Remote-Group"},
                                .extra_prefixes = {"X-Remote-Extra-"}},
                               clock_);
  }
  static std::string Show(const Result<std::optional<UserInfo>>& found) {
    if (!found.ok()) return found.status().message();
    if (!*found) return "none";
    std::string text =
        (*found)->name + " " + (*found)->uid + " [" + Join((*found)->groups, " ") + "]";
    for (const auto& [key, values] : (*found)->extra) text += " " + key + "=" + Join(values, ",");
    return text;
  }

  RealClock clock_;
  const net::CertificatePair ca_ = Make({.common_name = "proxies", .is_ca = true}, nullptr);
  const net::CertificatePair other_ = Make({.common_name = "clients", .is_ca = true}, nullptr);
};

TEST_F(FrontProxyTest, HeadersGiveUser) {
  const auto method = Method({"front"});
  const struct {
    net::Headers headers;
    std::string want;
  } kCases[] = {
      {{{"x-remote-user", "alice"}}, "alice  []"},
      {{{"x-remote-user", "alice"},
        {"x-remote-uid", "7"},
        {"x-remote-group", "dev"},
        {"x-remote-group", "ops"},
        {"x-remote-extra-scopes", "a"},
        {"x-remote-extra-scopes", "b"},
        {"x-remote-extra-example.com%2fkey", "v"}},
       "alice 7 [dev ops] example.com/key=v scopes=a,b"},
      {{{"x-remote-user", ""}, {"x-who", "bob"}}, "bob  []"},
      {{{"x-remote-group", "system:masters"}}, "none"},
      {{}, "none"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Show(method->Try(From("front", ca_, c.headers))), c.want);
  }
}

TEST_F(FrontProxyTest, HeadersOfOtherClientsAreIgnored) {
  const net::Headers root = {{"x-remote-user", "root"}, {"x-remote-group", "system:masters"}};
  net::Request plain;
  plain.headers = root;
  EXPECT_EQ(Show(Method({"front"})->Try(plain)), "none");
  EXPECT_EQ(Show(Method({"front"})->Try(From("front", other_, root))),
            "client certificate is not accepted");
  EXPECT_EQ(Show(Method({"front"})->Try(From("mallory", ca_, root))),
            "this certificate's name is no front proxy's");
  EXPECT_EQ(Show(Method({})->Try(From("any", ca_, root))), "root  [system:masters]");
}

}  // namespace
}  // namespace cox::apiserver
