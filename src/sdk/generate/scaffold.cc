// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/scaffold.h"

#include <cctype>
#include <string_view>

#include "object/scheme.h"
#include "sdk/generate/templates.h"

namespace cox::sdk {
namespace {

bool IsDnsLabel(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  for (const char c : text) {
    if (c != '-' && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

bool IsKind(std::string_view text) {
  if (text.empty() || text.size() > 63 || text[0] < 'A' || text[0] > 'Z') return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

bool IsGroup(std::string_view text) {
  while (!text.empty()) {
    const size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
  return false;
}

// "BackupPlan" -> "backup_plan".
std::string SnakeCase(std::string_view kind) {
  std::string out;
  for (const char c : kind) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !out.empty()) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string Fill(std::string_view text,
                 const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out(text);
  for (const auto& [name, value] : values) {
    for (size_t at = out.find(name); at != std::string::npos; at = out.find(name, at)) {
      out.replace(at, name.size(), value);
      at += value.size();
    }
  }
  return out;
}

Status Check(const ScaffoldOptions& options) {
  if (!IsDnsLabel(options.name)) {
    return Status::BadRequest("the name \"" + options.name +
                              "\" must be lower case letters, digits and '-', as backup-operator");
  }
  if (options.kind.empty()) return {};
  if (!IsKind(options.kind)) {
    return Status::BadRequest("the kind \"" + options.kind +
                              "\" must begin with a capital and be letters and digits, as Backup");
  }
  if (!IsGroup(options.group) || options.group.find('.') == std::string::npos) {
    return Status::BadRequest("a kind needs --group, a domain of yours, as example.com");
  }
  if (!IsDnsLabel(options.version) || options.version[0] != 'v') {
    return Status::BadRequest("the version \"" + options.version + "\" must be as v1 or v1alpha1");
  }
  return {};
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ScaffoldOperator(
    const ScaffoldOptions& options) {
  COX_RETURN_IF_ERROR(Check(options));
  std::string ns = options.name;
  for (char& c : ns) {
    if (c == '-') c = '_';
  }
  const bool custom = !options.kind.empty();
  const std::vector<std::pair<std::string, std::string>> values = {
      {"@INCLUDE@", "#include"},
      {"@NAME@", options.name},
      {"@NS@", ns},
      {"@KIND@", options.kind},
      {"@GROUP@", options.group},
      {"@VERSION@", options.version},
      {"@FILE@", SnakeCase(options.kind)},
      {"@PLURAL@", GuessPlural(options.kind)},
      {"@RBAC_GROUP@", custom ? options.group : ""},
      {"@RBAC_RESOURCES@",
       custom ? GuessPlural(options.kind) + ", " + GuessPlural(options.kind) + "/status"
              : "configmaps"},
  };
  std::vector<std::pair<std::string, std::string>> files;
  for (const Template& file : custom ? CustomKindTemplates() : ConfigMapTemplates()) {
    files.emplace_back(Fill(file.path, values), Fill(file.text, values));
  }
  for (const Template& file : CommonTemplates()) {
    files.emplace_back(Fill(file.path, values), Fill(file.text, values));
  }
  return files;
}

}  // namespace cox::sdk
