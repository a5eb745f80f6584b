// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/service_account/tokens.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <set>

#include "apiserver/filters/authn/jose/jwt.h"
#include "apiserver/registry/store/names.h"
#include "base/strings.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

Status Refused(std::string why) { return Status(Reason::kUnauthorized, std::move(why)); }

// ["a" "b"], Go's format for lists of strings.
std::string QuotedList(std::span<const std::string> items) {
  std::string text = "[";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ' ';
    AppendQuoted(text, item);
  }
  return text + "]";
}

void AddKey(std::vector<VerificationKey>& keys, VerificationKey key) {
  for (const VerificationKey& known : keys) {
    if (known.id() == key.id()) return;
  }
  keys.push_back(std::move(key));
}

}  // namespace

ServiceAccountTokens::ServiceAccountTokens(Private, ServiceAccountTokenOptions options, Keys keys)
    : options_(std::move(options)), keys_(std::make_shared<const Keys>(std::move(keys))) {}

Result<ServiceAccountTokens::Keys> ServiceAccountTokens::ParseKeys(
    const std::string& signing_key_pem, std::span<const std::string> key_pems) {
  Keys keys;
  if (!signing_key_pem.empty()) {
    COX_ASSIGN_OR_RETURN(SigningKey key, SigningKey::Parse(signing_key_pem));
    AddKey(keys.verifiers, key.verification_key());
    keys.signer = std::move(key);
  }
  for (const std::string& pem : key_pems) {
    COX_ASSIGN_OR_RETURN(std::vector<VerificationKey> parsed, ParseVerificationKeys(pem));
    for (VerificationKey& key : parsed) AddKey(keys.verifiers, std::move(key));
  }
  return keys;
}

Result<std::shared_ptr<ServiceAccountTokens>> ServiceAccountTokens::Create(
    ServiceAccountTokenOptions options) {
  if (options.issuers.empty() || options.issuers.front().empty()) {
    return Status::BadRequest("--service-account-issuer must not be empty");
  }
  if (options.api_audiences.empty()) options.api_audiences = options.issuers;
  COX_ASSIGN_OR_RETURN(Keys keys, ParseKeys(options.signing_key_pem, options.key_pems));
  // Keep no second copy of the private key in memory.
  OPENSSL_cleanse(options.signing_key_pem.data(), options.signing_key_pem.size());
  options.signing_key_pem.clear();
  options.key_pems.clear();
  return std::make_shared<ServiceAccountTokens>(Private{}, std::move(options), std::move(keys));
}

Status ServiceAccountTokens::ReplaceKeys(const std::string& signing_key_pem,
                                         std::span<const std::string> key_pems) {
  if (signing_key_pem.empty() && can_issue()) {
    return Status::BadRequest("service account signing key: the file is empty");
  }
  COX_ASSIGN_OR_RETURN(Keys keys, ParseKeys(signing_key_pem, key_pems));
  keys.generation = generation() + 1;
  keys_.Store(std::make_shared<const Keys>(std::move(keys)));
  return {};
}

Result<std::string> ServiceAccountTokens::Issue(ServiceAccountClaims claims) const {
  const std::shared_ptr<const Keys> keys = keys_.Load();
  if (!keys->signer) return Status::Internal("this server has no key to sign tokens with");
  claims.issuer = options_.issuers.front();
  claims.id = NewUid();
  return SignJwt(*keys->signer, ToValue(claims));
}

Result<std::optional<ServiceAccountClaims>> ServiceAccountTokens::Verify(
    std::string_view token) const {
  const std::optional<Jwt> jwt = ParseJwt(token);
  if (!jwt) return std::optional<ServiceAccountClaims>();
  const Value* issuer = jwt->claims.Find("iss");
  if (issuer == nullptr || !issuer->is_string() ||
      std::find(options_.issuers.begin(), options_.issuers.end(), issuer->as_string()) ==
          options_.issuers.end()) {
    return std::optional<ServiceAccountClaims>();
  }
  // The key determines the algorithm, and the token's header must match it. This excludes "none"
  // and HMAC with a public key as the secret.
  const std::shared_ptr<const Keys> keys = keys_.Load();
  for (const VerificationKey& key : keys->verifiers) {
    if (!jwt->key_id.empty() && jwt->key_id != key.id()) continue;
    if (jwt->algorithm != key.algorithm() || !key.Verify(jwt->signed_part, jwt->signature)) {
      continue;
    }
    COX_ASSIGN_OR_RETURN(ServiceAccountClaims claims, ReadClaims(jwt->claims));
    return std::optional<ServiceAccountClaims>(std::move(claims));
  }
  return Refused("no key of this server signed the token");
}

std::string ServiceAccountTokens::Jwks() const {
  Value keys = Value::MakeArray();
  const std::shared_ptr<const Keys> now = keys_.Load();
  for (const VerificationKey& key : now->verifiers) keys.as_array().push_back(key.Jwk());
  return json::Write(Value::MakeObject({{"keys", std::move(keys)}}));
}

std::string ServiceAccountTokens::DiscoveryDocument(std::string_view jwks_uri) const {
  std::set<std::string_view> algorithms;
  const std::shared_ptr<const Keys> now = keys_.Load();
  for (const VerificationKey& key : now->verifiers) algorithms.insert(key.algorithm());
  return json::Write(Value::MakeObject(
      {{"issuer", options_.issuers.front()},
       {"jwks_uri", options_.jwks_uri.empty() ? std::string(jwks_uri) : options_.jwks_uri},
       {"response_types_supported", Value::MakeArray({"id_token"})},
       {"subject_types_supported", Value::MakeArray({"public"})},
       {"id_token_signing_alg_values_supported",
        Value::Array(algorithms.begin(), algorithms.end())}}));
}

Status CheckTimes(const ServiceAccountClaims& claims, int64_t now) {
  if (now > claims.expires + kTokenLeewaySeconds)
    return Refused("service account token has expired");
  if (now + kTokenLeewaySeconds < claims.not_before) {
    return Refused("service account token is not valid yet");
  }
  if (now + kTokenLeewaySeconds < claims.issued_at) {
    return Refused("service account token is issued in the future");
  }
  return {};
}

Result<std::vector<std::string>> MatchAudiences(const ServiceAccountClaims& claims,
                                                std::span<const std::string> wanted) {
  std::vector<std::string> matched;
  for (const std::string& audience : claims.audiences) {
    if (std::find(wanted.begin(), wanted.end(), audience) != wanted.end()) {
      matched.push_back(audience);
    }
  }
  if (matched.empty()) {
    return Refused("token audiences " + QuotedList(claims.audiences) +
                   " is invalid for the target audiences " + QuotedList(wanted));
  }
  return matched;
}

}  // namespace cox::apiserver
