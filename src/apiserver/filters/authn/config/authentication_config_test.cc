// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/config/authentication_config.h"

#include <gtest/gtest.h>

namespace cox::apiserver {
namespace {

const std::vector<std::string> kServiceAccounts = {"https://kubernetes.default.svc"};

Result<AuthenticationConfiguration> Read(const std::string& fields,
                                         const std::string& version = "v1") {
  return AuthenticationConfiguration::Parse("apiVersion: apiserver.config.k8s.io/" + version +
                                                "\nkind: AuthenticationConfiguration\n" + fields,
                                            kServiceAccounts);
}
std::string ErrorOf(const std::string& fields) {
  const auto config = Read(fields);
  return config.ok() ? "none" : config.status().message();
}

constexpr char kGood[] = R"(
jwt:
- issuer:
    url: https://issuer.example.com
    discoveryURL: https://inside.example.com/discovery
    audiences: [one, two]
    audienceMatchPolicy: MatchAny
  claimValidationRules:
  - claim: hd
    requiredValue: example.com
  claimMappings:
    username: {claim: sub, prefix: "oidc:"}
    groups: {claim: roles, prefix: ""}
    uid: {claim: uid}
anonymous:
  enabled: true
  conditions:
  - path: /healthz
  - path: /livez
)";

TEST(AuthenticationConfigurationTest, ReadsIssuersAndAnonymous) {
  for (const char* version : {"v1", "v1beta1"}) {
    const auto config = Read(kGood, version);
    ASSERT_TRUE(config.ok()) << config.status().message();
    ASSERT_EQ(config->jwt.size(), 1U);
    const JwtIssuerConfig& issuer = config->jwt[0];
    EXPECT_EQ(issuer.url, "https://issuer.example.com");
    EXPECT_EQ(issuer.discovery_url, "https://inside.example.com/discovery");
    EXPECT_EQ(issuer.audiences, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(issuer.username.claim, "sub");
    EXPECT_EQ(issuer.username.prefix, "oidc:");
    EXPECT_EQ(issuer.groups->claim, "roles");
    EXPECT_EQ(issuer.uid_claim, "uid");
    EXPECT_EQ(issuer.required_claims.at("hd"), "example.com");
    ASSERT_TRUE(config->anonymous);
    EXPECT_TRUE(config->anonymous->Allows("/healthz"));
    EXPECT_FALSE(config->anonymous->Allows("/healthz/ping"));
    EXPECT_FALSE(config->anonymous->Allows("/api"));
  }
  EXPECT_FALSE(Read("jwt: []\n")->anonymous);
  EXPECT_FALSE(Read("anonymous: {enabled: false}\n")->anonymous->Allows("/healthz"));
  EXPECT_TRUE(Read("anonymous: {enabled: true}\n")->anonymous->Allows("/api"));
}

std::string Issuer(const std::string& issuer, const std::string& mappings,
                   const std::string& rest = "") {
  return "jwt:\n- issuer: {" + issuer + "}\n  claimMappings: {" + mappings + "}\n" + rest;
}

TEST(AuthenticationConfigurationTest, RejectsInvalidAndUnsupportedFields) {
  const std::string issuer = "url: 'https://a.example', audiences: [x]";
  const std::string user = "username: {claim: sub, prefix: ''}";
  const struct {
    std::string fields, want;
  } kCases[] = {
      {"jwt: []\nwhat: 1\n", "what"},
      {Issuer("url: 'http://a.example', audiences: [x]", user), "URL scheme must be https"},
      {Issuer("url: 'https://u:p@a.example', audiences: [x]", user), "username or password"},
      {Issuer("url: 'https://a.example?x=1', audiences: [x]", user), "must not contain a query"},
      {Issuer("url: 'https://kubernetes.default.svc', audiences: [x]", user),
       "must not overlap with disallowed issuers"},
      {Issuer("url: 'https://a.example'", user), "audiences is required"},
      {Issuer("url: 'https://a.example', audiences: [one, two]", user),
       "audienceMatchPolicy must be MatchAny for multiple audiences"},
      {Issuer("url: 'https://a.example', audiences: [x, x], audienceMatchPolicy: MatchAny", user),
       "Duplicate value: \"x\""},
      {Issuer(issuer + ", discoveryURL: 'https://a.example'", user),
       "discoveryURL must be different from URL"},
      {Issuer(issuer + ", certificateAuthority: nonsense", user), "no certificate found"},
      {Issuer(issuer, "username: {claim: sub}"), "prefix is required when claim is set"},
      {Issuer(issuer, "groups: {claim: g, prefix: ''}"), "claim or expression is required"},
      {Issuer(issuer, "username: {expression: claims.sub}"), "expressions (CEL) are not supported"},
      {Issuer(issuer, user + ", extra: [{key: a.b/c, valueExpression: claims.x}]"),
       "expressions (CEL) are not supported"},
      {Issuer(issuer, user, "  userValidationRules: [{expression: 'true'}]\n"),
       "expressions (CEL) are not supported"},
      {Issuer(issuer, user, "  claimValidationRules: [{expression: 'true'}]\n"),
       "expressions (CEL) are not supported"},
      {Issuer(issuer, user, "  claimValidationRules: [{claim: a, requiredValue: b}, {claim: a}]\n"),
       "Duplicate value: \"a\""},
      {"anonymous: {enabled: false, conditions: [{path: /x}]}\n", "enabled should be set to true"},
      {"anonymous: {enabled: true, conditions: [{path: x}]}\n", "must begin with '/'"},
  };
  for (const auto& c : kCases) {
    EXPECT_NE(ErrorOf(c.fields).find(c.want), std::string::npos) << c.fields << ErrorOf(c.fields);
  }
  EXPECT_EQ(ErrorOf(Issuer(issuer, user)), "none");
  const std::string twice = Issuer(issuer, user);
  EXPECT_NE(ErrorOf(twice + twice.substr(twice.find('-'))).find("Duplicate value"),
            std::string::npos);
}

TEST(OidcFlagsTest, AreConvertedToIssuer) {
  const std::string url = "https://issuer.example.com";
  const struct {
    std::string claim, prefix, want;
  } kPrefixes[] = {{"sub", "", url + "#"},
                   {"sub", "-", ""},
                   {"sub", "o:", "o:"},
                   {"email", "", ""},
                   {"email", "m:", "m:"}};
  for (const auto& c : kPrefixes) {
    const auto issuer = IssuerOf({.issuer_url = url,
                                  .client_id = "kube",
                                  .username_claim = c.claim,
                                  .username_prefix = c.prefix,
                                  .required_claims = {"hd=x=y"}},
                                 kServiceAccounts);
    ASSERT_TRUE(issuer.ok());
    EXPECT_EQ(issuer->username.prefix, c.want) << c.claim << " " << c.prefix;
    EXPECT_EQ(issuer->required_claims.at("hd"), "x=y");
    EXPECT_EQ(issuer->signing_algorithms, std::vector<std::string>{"RS256"});
  }
  EXPECT_FALSE(IssuerOf({.issuer_url = url}, kServiceAccounts).ok()) << "no client id";
  EXPECT_FALSE(IssuerOf({.issuer_url = "http://x", .client_id = "k"}, kServiceAccounts).ok());
  EXPECT_FALSE(
      IssuerOf({.issuer_url = url, .client_id = "k", .signing_algorithms = {"none"}}, {}).ok());
  EXPECT_FALSE(
      IssuerOf({.issuer_url = url, .client_id = "k", .signing_algorithms = {"HS256"}}, {}).ok());
  EXPECT_FALSE(
      IssuerOf({.issuer_url = kServiceAccounts[0], .client_id = "k"}, kServiceAccounts).ok());
}

}  // namespace
}  // namespace cox::apiserver
