// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/authn/jose/jwt.h"

#include "base/base64.h"
#include "object/codec/json/json.h"

namespace cox::apiserver {
namespace {

std::optional<Value> DecodeObject(std::string_view part) {
  const std::optional<std::string> text = base64::DecodeUrl(part);
  if (!text) return std::nullopt;
  Result<Value> value = json::Parse(*text);
  if (!value.ok() || !value->is_object()) return std::nullopt;
  return std::move(*value);
}

std::string Text(const Value& object, std::string_view name) {
  const Value* value = object.Find(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

}  // namespace

std::optional<Jwt> ParseJwt(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return std::nullopt;
  const size_t first = token.find('.');
  if (first == token.npos) return std::nullopt;
  const size_t second = token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return std::nullopt;
  const std::optional<Value> header = DecodeObject(token.substr(0, first));
  if (!header || header->Find("crit") != nullptr) return std::nullopt;
  std::optional<Value> claims = DecodeObject(token.substr(first + 1, second - first - 1));
  std::optional<std::string> signature = base64::DecodeUrl(token.substr(second + 1));
  if (!claims || !signature) return std::nullopt;
  return Jwt{.algorithm = Text(*header, "alg"),
             .key_id = Text(*header, "kid"),
             .claims = std::move(*claims),
             .signed_part = token.substr(0, second),
             .signature = std::move(*signature)};
}

Result<std::string> SignJwt(const SigningKey& key, const Value& claims) {
  const VerificationKey& names = key.verification_key();
  const Value header = Value::MakeObject({{"alg", names.algorithm()}, {"kid", names.id()}});
  std::string token =
      base64::EncodeUrl(json::Write(header)) + "." + base64::EncodeUrl(json::Write(claims));
  COX_ASSIGN_OR_RETURN(const std::string signature, key.Sign(token));
  return token + "." + base64::EncodeUrl(signature);
}

}  // namespace cox::apiserver
