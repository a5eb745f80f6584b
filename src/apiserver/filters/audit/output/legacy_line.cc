// SPDX-License-Identifier: Apache-2.0
#include "apiserver/filters/audit/output/legacy_line.h"

#include <vector>

#include "base/strings.h"

namespace cox::apiserver {
namespace {

// "a","b"
std::string QuotedList(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += ',';
    AppendQuoted(text, item);
  }
  return text;
}

std::string OrElse(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

}  // namespace

std::string LegacyLine::Text(AuditStage stage, int code) const {
  const bool has_groups = !user.name.empty() && !user.groups.empty();
  const std::string groups = has_groups ? QuotedList(user.groups) : "<none>";
  const std::string as_groups = as && !as->groups.empty() ? QuotedList(as->groups) : "<lookup>";
  std::string line = received + " AUDIT:";
  auto add = [&line](std::string_view key, std::string_view value) {
    line.append(" ").append(key).append("=");
    AppendQuoted(line, value);
  };
  add("id", audit_id);
  add("stage", AuditStageName(stage));
  add("ip", OrElse(ip, "<unknown>"));
  add("method", verb);
  add("user", OrElse(user.name, "<none>"));
  add("groups", groups);
  add("as", as ? as->name : "<self>");
  add("asgroups", as_groups);
  add("user-agent", user_agent);
  add("namespace", OrElse(ns, "<none>"));
  add("uri", uri);
  add("response", code == 0 ? "<deferred>" : std::to_string(code));
  line += '\n';
  return line;
}

}  // namespace cox::apiserver
