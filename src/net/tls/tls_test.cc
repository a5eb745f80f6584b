// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "net/certificate.h"
#include "net/many_clients.h"
#include "net/testing/loopback.h"
#include "net/testing/weak_certificate.h"
#include "net/tls/client_tls.h"
#include "net/tls/record_buffers.h"
#include "net/tls/tls_engine.h"

namespace cox::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The result of a handshake between two engines in memory.
struct Handshaken {
  bool ok = false;
  std::string error;
  std::string server_name;  // common name of the server certificate
  std::string protocol;
  std::vector<std::string> client_certificates;
  std::string version;
};

Handshaken Handshake(const ServerTls& server, const ClientTls& client_options,
                     const std::string& host, bool http2 = true, int max_version = 0) {
  Handshaken result;
  auto context = MakeClientContext(client_options, http2);
  if (!context.ok()) return {.error = context.status().ToString()};
  if (max_version != 0) SSL_CTX_set_max_proto_version(context->get(), max_version);
  auto client_ssl = MakeClientSsl(context->get(), client_options, host);
  if (!client_ssl.ok()) return {.error = client_ssl.status().ToString()};
  SSL* const raw_client = client_ssl->get();
  SslPtr server_ssl(SSL_new(server.context()));
  SSL_set_accept_state(server_ssl.get());
  TlsEngine client(*std::move(client_ssl));
  TlsEngine other(std::move(server_ssl));
  std::string to_server, to_client;
  auto client_state = TlsEngine::State::kWantMore, server_state = TlsEngine::State::kWantMore;
  for (int round = 0; round < 10; ++round) {
    const std::string from_server = std::exchange(to_client, {});
    std::string_view in = from_server;
    if (client_state == TlsEngine::State::kWantMore) {
      client_state = client.Handshake(&in, &to_server);
    }
    const std::string from_client = std::exchange(to_server, {});
    in = from_client;
    if (server_state == TlsEngine::State::kWantMore) {
      server_state = other.Handshake(&in, &to_client);
    }
  }
  result.ok = client_state == TlsEngine::State::kOk && server_state == TlsEngine::State::kOk;
  result.error = client.error() + "/" + other.error();
  if (!result.ok) return result;
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(raw_client)),
                            NID_commonName, name, sizeof(name));
  result.server_name = name;
  result.protocol = other.protocol();
  result.client_certificates = other.PeerCertificates();
  result.version = SSL_get_version(raw_client);
  return result;
}

class TlsTest : public testing::Test {
 protected:
  CertificatePair Signed(const std::string& name, std::vector<std::string> dns_names) {
    return Loopback::Made({.common_name = name, .dns_names = std::move(dns_names)}, &ca_);
  }
  std::shared_ptr<const ServerTls> Server(ServerTls::Options options) {
    auto made = ServerTls::Create(std::move(options));
    COX_CHECK_OK(made.status());
    return *made;
  }
  ClientTls Trusting() const { return {.ca_pem = ca_.certificate_pem}; }

  const CertificatePair ca_ = Loopback::Made({.common_name = "ca", .is_ca = true}, nullptr);
};

TEST_F(TlsTest, SelectsCertificateBySni) {
  const auto server = Server({
      .certificate = Signed("default", {"default.test", "other.test", "a.b.wild.test"}),
      .by_name = {Signed("exact", {"exact.test", "api.wild.test"}),
                  Signed("wild", {"*.wild.test"})},
  });
  const std::pair<const char*, const char*> cases[] = {
      {"exact.test", "exact"},    {"EXACT.test", "exact"},      {"x.wild.test", "wild"},
      {"api.wild.test", "exact"}, {"a.b.wild.test", "default"}, {"other.test", "default"},
  };
  for (const auto& [host, expected] : cases) {
    const Handshaken done = Handshake(*server, Trusting(), host);
    EXPECT_TRUE(done.ok) << host << ": " << done.error;
    EXPECT_EQ(done.server_name, expected) << host;
  }
}

TEST_F(TlsTest, ClientRejectsWrongNameAndUnknownCa) {
  const auto server = Server({.certificate = Signed("default", {"default.test"})});
  EXPECT_FALSE(Handshake(*server, Trusting(), "evil.test").ok);
  EXPECT_FALSE(Handshake(*server, Trusting(), "10.0.0.1").ok);
  const CertificatePair other = Loopback::Made({.common_name = "other", .is_ca = true}, nullptr);
  EXPECT_FALSE(Handshake(*server, {.ca_pem = other.certificate_pem}, "default.test").ok);
  EXPECT_TRUE(Handshake(*server, {.insecure = true}, "evil.test").ok);
  EXPECT_TRUE(
      Handshake(*server, {.ca_pem = ca_.certificate_pem, .server_name = "default.test"}, "10.0.0.1")
          .ok);
}

TEST_F(TlsTest, OnlyAlternativeNamesIdentifyServer) {
  // By the names in the certificate: the hosts that it is valid for, and those that it is not.
  struct Case {
    std::string common_name;
    std::vector<std::string> dns_names;
    std::vector<std::string> valid;
    std::vector<std::string> invalid;
  };
  const Case cases[] = {
      {"a.test", {}, {}, {"a.test"}},
      {"a.test", {"b.test"}, {"b.test"}, {"a.test"}},
      {"x", {"*.w.test"}, {"a.w.test"}, {"w.test", "a.b.w.test"}},
      {"x", {"a*.w.test"}, {}, {"ab.w.test", "a.w.test"}},
      {"x", {"*a.w.test"}, {}, {"ba.w.test"}},
      {"x", {"a*b.w.test"}, {}, {"acb.w.test"}},
      {"127.0.0.1", {"127.0.0.1"}, {}, {"127.0.0.1"}},
  };
  for (const Case& c : cases) {
    const auto server = Server({.certificate = Signed(c.common_name, c.dns_names)});
    for (const std::string& host : c.valid) {
      EXPECT_TRUE(Handshake(*server, Trusting(), host).ok) << host;
    }
    for (const std::string& host : c.invalid) {
      EXPECT_FALSE(Handshake(*server, Trusting(), host).ok)
          << host << " by " << c.common_name << testing::PrintToString(c.dns_names);
    }
  }
}

// A server that, unlike ServerTls, accepts weak certificates of its own.
class WeakServer final : public ServerTls {
 public:
  explicit WeakServer(const CertificatePair& pair) : context_(SSL_CTX_new(TLS_server_method())) {
    const auto parsed = ParseCertificatePair(pair.certificate_pem, pair.key_pem);
    COX_CHECK_OK(parsed.status());
    SSL_CTX_set_security_level(context_.get(), 0);
    COX_CHECK(SSL_CTX_use_certificate(context_.get(), parsed->leaf.get()) == 1 &&
              SSL_CTX_use_PrivateKey(context_.get(), parsed->key.get()) == 1);
  }
  Status Replace(CertificatePair, std::vector<CertificatePair>) const override { return {}; }
  SSL_CTX* context() const override { return context_.get(); }

 private:
  const SslContextPtr context_;
};

TEST_F(TlsTest, WeakCertificatesAreRejected) {
  const CertificateRequest names{.common_name = "weak", .dns_names = {"weak.test"}};
  const CertificateRequest client{.common_name = "weak", .client_auth = true};
  const auto cas = *TrustedCas::Parse(ca_.certificate_pem);
  const auto now = RealClock().Now();
  EXPECT_TRUE(Handshake(WeakServer(Loopback::Made(names, &ca_)), Trusting(), "weak.test").ok);
  EXPECT_TRUE(cas->VerifyClient({DerOf(Loopback::Made(client, &ca_).certificate_pem)}, now).ok());
  for (const Weakness weakness : {Weakness::kShortKey, Weakness::kSha1Signature}) {
    const CertificatePair server = WeakCertificate(names, ca_, weakness);
    const Handshaken done = Handshake(WeakServer(server), Trusting(), "weak.test");
    EXPECT_FALSE(done.ok);
    EXPECT_THAT(done.error, testing::ContainsRegex("too weak|too small"));
    const std::string leaf = DerOf(WeakCertificate(client, ca_, weakness).certificate_pem);
    EXPECT_TRUE(cas->VerifyClient({leaf}, now).Is(Reason::kUnauthorized));
  }
  // A server does not start with a weak key, instead of failing in every handshake.
  const auto server =
      ServerTls::Create({.certificate = WeakCertificate(names, ca_, Weakness::kShortKey)});
  EXPECT_TRUE(server.status().Is(Reason::kBadRequest));
  EXPECT_THAT(server.status().message(), HasSubstr("serving certificate"));
}

TEST(ParseTlsVersionTest, RejectsUnknownText) {
  EXPECT_EQ(*ParseTlsVersion("VersionTLS12"), TLS1_2_VERSION);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS13"), TLS1_3_VERSION);
  for (const char* text : {"", "VersionTLS10", "VersionTLS11", "VersionTLS14", "tls13", "1.3"}) {
    EXPECT_TRUE(ParseTlsVersion(text).status().Is(Reason::kBadRequest)) << text;
  }
}

TEST_F(TlsTest, NegotiatesProtocolAndVersion) {
  const auto server = Server({.certificate = Signed("default", {"default.test"})});
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test").protocol, "h2");
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test", false).protocol, "http/1.1");
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test").version, "TLSv1.3");
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test", true, TLS1_2_VERSION).version,
            "TLSv1.2");
  const auto strict =
      Server({.certificate = Signed("default", {"default.test"}), .min_version = TLS1_3_VERSION});
  EXPECT_FALSE(Handshake(*strict, Trusting(), "default.test", true, TLS1_2_VERSION).ok);
}

TEST_F(TlsTest, ReturnsClientChainWithoutVerification) {
  const auto server = Server({.certificate = Signed("default", {"default.test"})});
  EXPECT_TRUE(Handshake(*server, Trusting(), "default.test").client_certificates.empty());
  // Signed by a CA that is unknown to the server, with an intermediate.
  const CertificatePair root = Loopback::Made({.common_name = "root", .is_ca = true}, nullptr);
  const CertificatePair middle = Loopback::Made({.common_name = "middle", .is_ca = true}, &root);
  const CertificatePair leaf = Loopback::Made(
      {.common_name = "jane", .organizations = {"dev"}, .client_auth = true}, &middle);
  ClientTls options = Trusting();
  options.certificate_pem = leaf.certificate_pem + middle.certificate_pem;
  options.key_pem = leaf.key_pem;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Handshaken done = Handshake(*server, options, "default.test", true, version);
    ASSERT_TRUE(done.ok) << done.error;
    ASSERT_EQ(done.client_certificates.size(), 2U);
    EXPECT_THAT(done.client_certificates[0], HasSubstr("jane"));
    EXPECT_THAT(done.client_certificates[1], HasSubstr("middle"));
  }
}

TEST_F(TlsTest, ReplacedCertificateIsUsedForNewHandshakes) {
  const auto server = Server({.certificate = Signed("old", {"default.test"})});
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test").server_name, "old");
  ASSERT_TRUE(server->Replace(Signed("new", {"default.test"}), {}).ok());
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test").server_name, "new");
  EXPECT_TRUE(server->Replace({"junk", "junk"}, {}).Is(Reason::kBadRequest));
  EXPECT_EQ(Handshake(*server, Trusting(), "default.test").server_name, "new");
}

TEST_F(TlsTest, InvalidOptionsReturnSpecificErrors) {
  const CertificatePair good = Signed("a", {"a.test"});
  const CertificatePair other = Signed("b", {"b.test"});
  const struct {
    ServerTls::Options options;
    const char* message;
  } cases[] = {
      {{.certificate = {"", good.key_pem}}, "serving certificate: certificate PEM"},
      {{.certificate = {good.certificate_pem, ""}}, "serving certificate: key PEM"},
      {{.certificate = {good.certificate_pem, other.key_pem}}, "does not belong"},
      {{.certificate = good, .by_name = {{"x", "y"}}}, "certificate 1 by name"},
      {{.certificate = good, .client_ca_pem = "junk"}, "client CA"},
      {{.certificate = good, .cipher_suites = {"TLS_NONE"}}, "unknown cipher suite TLS_NONE"},
  };
  for (const auto& [options, message] : cases) {
    const auto made = ServerTls::Create(options);
    ASSERT_TRUE(made.status().Is(Reason::kBadRequest)) << message;
    EXPECT_THAT(made.status().message(), HasSubstr(message));
  }
  EXPECT_TRUE(ServerTls::Create({.certificate = good,
                                 .cipher_suites = {"TLS_AES_128_GCM_SHA256",
                                                   "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}})
                  .ok());
}

TEST_F(TlsTest, HandlerSeesClientCertificateAndServerCertificateReloads) {
  Mutex mu;
  std::vector<std::string> certificates;
  Loopback loopback([&](const ExchangePtr& exchange) {
    MutexLock lock(mu);
    certificates = exchange->request().peer->certificates;
    EXPECT_TRUE(exchange->request().peer->tls);
    EXPECT_THAT(exchange->request().peer->address, testing::StartsWith("127.0.0.1:"));
    exchange->Send({});
  });
  const CertificatePair jane =
      Loopback::Made({.common_name = "jane", .client_auth = true}, &loopback.ca);
  ClientOptions options = loopback.Options(true);
  options.tls_options.certificate_pem = jane.certificate_pem;
  options.tls_options.key_pem = jane.key_pem;
  const auto old_client = loopback.MakeClient(options);
  ASSERT_TRUE(old_client->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
  {
    MutexLock lock(mu);
    ASSERT_EQ(certificates.size(), 1U);
    EXPECT_THAT(certificates[0], HasSubstr("jane"));
  }
  // The existing connection continues; new clients must trust the new CA.
  const CertificatePair new_ca = Loopback::Made({.common_name = "ca2", .is_ca = true}, nullptr);
  const CertificatePair renewed =
      Loopback::Made({.common_name = "localhost", .ip_addresses = {"127.0.0.1"}}, &new_ca);
  ASSERT_TRUE(loopback.server_tls->Replace(renewed, {}).ok());
  EXPECT_TRUE(old_client->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
  EXPECT_FALSE(
      loopback.MakeClient(true)->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
  options.tls_options.ca_pem = new_ca.certificate_pem;
  EXPECT_TRUE(
      loopback.MakeClient(options)->Do(loopback.context, {.method = "GET", .target = "/"}).ok());
}

TEST_F(TlsTest, ClientsOfOneFactoryHaveTheirOwnCertificates) {
  Mutex mu;
  std::vector<std::string> certificates;
  Loopback loopback([&](const ExchangePtr& exchange) {
    MutexLock lock(mu);
    certificates = exchange->request().peer->certificates;
    exchange->Send({});
  });
  const auto issuer = CertificateIssuer::Create(loopback.ca);
  ASSERT_TRUE(issuer.ok()) << issuer.status().ToString();
  const auto factory = ClientFactory::Create(loopback.Options(true));
  ASSERT_TRUE(factory.ok()) << factory.status().ToString();
  const auto loop = StartEventLoop(loopback.context, "clients");
  ASSERT_TRUE(loop.ok());
  for (const char* name : {"jane", "john"}) {
    CertificateRequest request;
    request.common_name = name;
    request.client_auth = true;
    const auto identity = (*issuer)->Issue(request, RealClock().Now());
    EXPECT_TRUE(identity.ok());
    const auto client = (*factory)->Make(*identity, *loop);
    const auto response = client->Do(loopback.context, {.method = "GET", .target = "/"});
    EXPECT_TRUE(response.ok()) << response.status().ToString();
    MutexLock lock(mu);
    EXPECT_THAT(certificates, ElementsAre(HasSubstr(name)));
  }
  StopEventLoop(**loop);
}

TEST(MakeCertificate, InvalidAddressIsRejected) {
  EXPECT_TRUE(MakeCertificate({.common_name = "x", .ip_addresses = {"1.2.3"}}, nullptr)
                  .status()
                  .Is(Reason::kBadRequest));
}

TEST(RecordBuffers, LargeBlocksUseTheirOwnRangeAndAreReused) {
  EXPECT_EQ(RecordBuffers::Allocate(100), nullptr);
  EXPECT_EQ(RecordBuffers::Allocate(1 << 20), nullptr);
  void* const block = RecordBuffers::Allocate(17'000);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(RecordBuffers::Owns(block));
  EXPECT_TRUE(RecordBuffers::Release(block));
  EXPECT_EQ(RecordBuffers::Allocate(17'000), block);
  EXPECT_TRUE(RecordBuffers::Release(block));
  int elsewhere = 0;
  EXPECT_FALSE(RecordBuffers::Release(&elsewhere));
}

}  // namespace
}  // namespace cox::net
