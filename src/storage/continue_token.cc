// SPDX-License-Identifier: Apache-2.0
#include "storage/continue_token.h"

#include "base/base64.h"
#include "object/codec/json/json.h"

namespace cox::storage {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

Status NotValid(std::string_view why) {
  return Status::BadRequest("continue key is not valid: " + std::string(why));
}

}  // namespace

std::string ContinueToken::Encode(std::string_view prefix) const {
  std::string text = R"({"v":")";
  text.append(kVersion)
      .append(R"(","rv":)")
      .append(std::to_string(revision))
      .append(R"(,"start":)");
  json::WriteString(std::string_view(start).substr(prefix.size()), &text);
  text += '}';
  return base64::EncodeUrl(text);
}

Result<ContinueToken> ContinueToken::Decode(std::string_view text, std::string_view prefix) {
  const std::optional<std::string> decoded = base64::DecodeUrl(text);
  if (!decoded) return NotValid("illegal base64 data");
  Result<Value> parsed = json::Parse(*decoded);
  if (!parsed.ok()) return NotValid(parsed.status().message());
  const Value* version = parsed->Find("v");
  const std::string_view said =
      version != nullptr && version->is_string() ? version->as_string() : std::string_view();
  if (said != kVersion) {
    return NotValid("server does not recognize this encoded version " + std::string(said));
  }
  const Value* revision = parsed->Find("rv");
  if (revision == nullptr || !revision->is_int() || revision->as_int() == 0) {
    return NotValid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  const Value* start = parsed->Find("start");
  if (start == nullptr || !start->is_string() || start->as_string().empty()) {
    return NotValid("encoded start key empty (version meta.k8s.io/v1)");
  }
  // Security: a key with ".." could list keys outside of the prefix that the caller may read.
  const std::string_view key = start->as_string();
  if (key.substr(0, 3) == "../" || key.find("/../") != key.npos || key == ".." ||
      (key.size() >= 3 && key.substr(key.size() - 3) == "/..")) {
    return NotValid(std::string(key));
  }
  ContinueToken token;
  token.revision = revision->as_int();
  token.start.assign(prefix).append(key.front() == '/' ? key.substr(1) : key);
  return token;
}

}  // namespace cox::storage
