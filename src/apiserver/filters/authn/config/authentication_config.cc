// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/config/authentication_config.h"

#include <algorithm>
#include <set>

#include "apiserver/config/config_reader.h"
#include "apiserver/filters/authn/authenticator/client_certificate.h"
#include "apiserver/filters/authn/jose/jws.h"
#include "base/strings.h"

namespace cox::apiserver {
namespace {

constexpr size_t kMaxIssuers = 64;
constexpr std::string_view kNoExpressions = "expressions (CEL) are not supported by this server";

// The error in an issuer URL; empty if it is valid.
std::string_view UrlProblem(std::string_view url) {
  if (url.empty()) return "URL is required";
  if (!url.starts_with("https://")) return "URL scheme must be https";
  const std::string_view rest = url.substr(std::string_view("https://").size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty()) return "URL must have a host";
  if (host.find('@') != host.npos) return "URL must not contain a username or password";
  if (url.find('?') != url.npos) return "URL must not contain a query";
  if (url.find('#') != url.npos) return "URL must not contain a fragment";
  const bool plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7f; });
  return plain ? std::string_view() : "URL must be ASCII without blanks";
}

void CheckUrl(const ConfigObject& object, std::string_view field, const std::string& url,
              std::set<std::string>& known) {
  const std::string_view problem = UrlProblem(url);
  if (!problem.empty()) return object.Fail(field, problem);
  if (!known.insert(url).second) object.Fail(field, "Duplicate value: " + Quote(url));
}

void ReadAudiences(const ConfigObject& issuer, JwtIssuerConfig& config) {
  config.audiences = issuer.Strings("audiences");
  const std::string policy = issuer.Choice("audienceMatchPolicy", {"MatchAny"}, "");
  if (config.audiences.empty()) {
    issuer.Fail("audiences", "at least one jwt[].issuer.audiences is required");
  }
  if (config.audiences.size() > 1 && policy != "MatchAny") {
    issuer.Fail("audienceMatchPolicy",
                "audienceMatchPolicy must be MatchAny for multiple audiences");
  }
  std::set<std::string> known;
  for (const std::string& audience : config.audiences) {
    if (audience.empty()) issuer.Fail("audiences", "audience is required");
    if (!known.insert(audience).second) {
      issuer.Fail("audiences", "Duplicate value: " + Quote(audience));
    }
  }
}

void ReadIssuer(const ConfigObject& issuer, std::span<const std::string> service_account_issuers,
                std::set<std::string>& urls, std::set<std::string>& discovery_urls,
                JwtIssuerConfig& config) {
  config.url = issuer.String("url");
  CheckUrl(issuer, "url", config.url, urls);
  if (std::ranges::find(service_account_issuers, config.url) != service_account_issuers.end()) {
    issuer.Fail("url", "URL must not overlap with disallowed issuers: the service accounts'");
  }
  config.discovery_url = issuer.String("discoveryURL");
  if (!config.discovery_url.empty()) {
    CheckUrl(issuer, "discoveryURL", config.discovery_url, discovery_urls);
    if (config.discovery_url == config.url) {
      issuer.Fail("discoveryURL", "discoveryURL must be different from URL");
    }
  }
  config.ca_pem = issuer.String("certificateAuthority");
  if (!config.ca_pem.empty()) {
    const Result<CaPoolPtr> cas = CaPool::Parse(config.ca_pem);
    if (!cas.ok()) issuer.Fail("certificateAuthority", cas.status().message());
  }
  if (issuer.Has("egressSelectorType")) {
    (void)issuer.Raw("egressSelectorType");
    issuer.Fail("egressSelectorType", "egress selectors are not supported by this server");
  }
  ReadAudiences(issuer, config);
}

void RejectExpression(const ConfigObject& object) {
  if (!object.String("expression").empty()) object.Fail("expression", kNoExpressions);
}

std::optional<JwtIssuerConfig::Mapping> ReadMapping(const ConfigObject& object) {
  if (!object.present()) return std::nullopt;
  RejectExpression(object);
  JwtIssuerConfig::Mapping mapping{.claim = object.String("claim"),
                                   .prefix = object.String("prefix")};
  // Without a prefix, an issuer could impersonate the cluster's own users.
  if (!mapping.claim.empty() && !object.Has("prefix")) {
    object.Fail("prefix",
                "prefix is required when claim is set. It can be set to an empty string to disable "
                "prefixing");
  }
  if (mapping.claim.empty()) return std::nullopt;
  return mapping;
}

void ReadMappings(const ConfigObject& mappings, JwtIssuerConfig& config) {
  const ConfigObject username = mappings.Object("username");
  std::optional<JwtIssuerConfig::Mapping> name = ReadMapping(username);
  if (!name && username.String("expression").empty()) {
    mappings.Fail("username", "claim or expression is required");
  }
  if (name) config.username = std::move(*name);
  config.groups = ReadMapping(mappings.Object("groups"));
  const ConfigObject uid = mappings.Object("uid");
  if (uid.present()) RejectExpression(uid);
  config.uid_claim = uid.String("claim");
  if (mappings.Has("extra")) {
    (void)mappings.Raw("extra");
    mappings.Fail("extra", kNoExpressions);
  }
}

void ReadRules(const ConfigObject& jwt, JwtIssuerConfig& config) {
  for (const ConfigObject& rule : jwt.Objects("claimValidationRules")) {
    RejectExpression(rule);
    if (!rule.String("message").empty()) {
      rule.Fail("message", "message can only be set when expression is set");
    }
    const std::string claim = rule.String("claim");
    const std::string value = rule.String("requiredValue");
    if (claim.empty()) {
      if (rule.String("expression").empty()) rule.Fail("", "claim or expression is required");
      continue;
    }
    if (!config.required_claims.emplace(claim, value).second) {
      rule.Fail("claim", "Duplicate value: " + Quote(claim));
    }
  }
  if (jwt.Has("userValidationRules")) {
    (void)jwt.Raw("userValidationRules");
    jwt.Fail("userValidationRules", kNoExpressions);
  }
}

std::optional<AnonymousConfig> ReadAnonymous(const ConfigObject& anonymous) {
  if (!anonymous.present()) return std::nullopt;
  AnonymousConfig config{.enabled = anonymous.Bool("enabled"), .paths = {}};
  for (const ConfigObject& condition : anonymous.Objects("conditions")) {
    const std::string path = condition.RequiredString("path");
    if (!path.empty() && !path.starts_with('/')) condition.Fail("path", "must begin with '/'");
    config.paths.push_back(path);
  }
  if (!config.enabled && !config.paths.empty()) {
    anonymous.Fail("conditions", "enabled should be set to true when conditions are defined");
  }
  return config;
}

}  // namespace

bool AnonymousConfig::Allows(std::string_view path) const {
  return enabled && (paths.empty() || std::ranges::find(paths, path) != paths.end());
}

Result<AuthenticationConfiguration> AuthenticationConfiguration::Parse(
    std::string_view text, std::span<const std::string> service_account_issuers) {
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Parse(text, "AuthenticationConfiguration",
                            {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1"}));
  AuthenticationConfiguration config;
  const ConfigObject root = document.root();
  const std::vector<ConfigObject> issuers = root.Objects("jwt");
  if (issuers.size() > kMaxIssuers) {
    root.Fail("jwt", "must have at most " + std::to_string(kMaxIssuers) + " items");
  }
  std::set<std::string> urls, discovery_urls;
  for (const ConfigObject& jwt : issuers) {
    JwtIssuerConfig issuer;
    ReadIssuer(jwt.Object("issuer"), service_account_issuers, urls, discovery_urls, issuer);
    ReadMappings(jwt.Object("claimMappings"), issuer);
    ReadRules(jwt, issuer);
    config.jwt.push_back(std::move(issuer));
  }
  config.anonymous = ReadAnonymous(root.Object("anonymous"));
  COX_RETURN_IF_ERROR(document.Finish());
  return config;
}

Result<JwtIssuerConfig> IssuerOf(const OidcFlags& flags,
                                 std::span<const std::string> service_account_issuers) {
  if (flags.client_id.empty()) {
    return Status::BadRequest("--oidc-client-id must be given with --oidc-issuer-url");
  }
  if (const std::string_view problem = UrlProblem(flags.issuer_url); !problem.empty()) {
    return Status::BadRequest("--oidc-issuer-url: " + std::string(problem));
  }
  if (std::ranges::find(service_account_issuers, flags.issuer_url) !=
      service_account_issuers.end()) {
    return Status::BadRequest("--oidc-issuer-url must not be a --service-account-issuer");
  }
  JwtIssuerConfig config{.url = flags.issuer_url,
                         .ca_pem = flags.ca_pem,
                         .audiences = {flags.client_id},
                         .signing_algorithms = flags.signing_algorithms};
  config.username.claim = flags.username_claim;
  // "-" disables the prefix. By default only email claims have none, because they cannot collide
  // with other user names.
  if (!flags.username_prefix.empty()) {
    config.username.prefix = flags.username_prefix == "-" ? "" : flags.username_prefix;
  } else if (flags.username_claim != "email") {
    config.username.prefix = flags.issuer_url + "#";
  }
  if (!flags.groups_claim.empty()) {
    config.groups = JwtIssuerConfig::Mapping{flags.groups_claim, flags.groups_prefix};
  }
  for (const std::string& algorithm : flags.signing_algorithms) {
    if (std::ranges::find(JwsAlgorithms(), algorithm) == JwsAlgorithms().end()) {
      return Status::BadRequest("--oidc-signing-algs: " + Quote(algorithm) + " is not known");
    }
  }
  for (const std::string& pair : flags.required_claims) {
    const CutResult cut = Cut(pair, '=');
    if (!cut.found || cut.before.empty()) {
      return Status::BadRequest("--oidc-required-claim must be name=value, not " + Quote(pair));
    }
    config.required_claims.emplace(cut.before, cut.after);
  }
  return config;
}

}  // namespace cox::apiserver
