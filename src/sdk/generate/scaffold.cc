// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/scaffold.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string_view>

#include "object/scheme.h"
#include "object/validation/names.h"
#include "sdk/generate/cpp_words.h"
#include "sdk/generate/templates.h"

namespace cox::sdk {
namespace {

// CMake's own targets, and the folder of the generated definitions, cannot be program names.
constexpr std::string_view kTargets[] = {"all",     "clean",   "deploy", "help",
                                         "install", "package", "test"};
// Names of files, classes and functions in the templates.
constexpr std::string_view kFrame[] = {"Desired", "Main", "Reconciler", "SetUp"};

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsKind(std::string_view text) {
  if (text.empty() || text.size() > 63 || text[0] < 'A' || text[0] > 'Z') return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
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
                 const std::vector<std::pair<std::string_view, std::string>>& values) {
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
  if (!validation::IsDNS1035Label(options.name).empty()) {
    return Status::BadRequest("the name \"" + options.name +
                              "\" must begin with a letter and be lower case letters, digits and "
                              "'-', as backup-operator");
  }
  if (Contains(kTargets, options.name)) {
    return Status::BadRequest("the name \"" + options.name + "\" is one that the build needs");
  }
  if (options.kind.empty()) return {};
  if (!IsKind(options.kind)) {
    return Status::BadRequest("the kind \"" + options.kind +
                              "\" must begin with a capital and be letters and digits, as Backup");
  }
  if (Contains(kFrame, options.kind)) {
    return Status::BadRequest("the kind \"" + options.kind + "\" is a name of the frame's own");
  }
  if (!validation::IsDNS1123Subdomain(options.group).empty() ||
      options.group.find('.') == std::string::npos) {
    return Status::BadRequest("a kind needs --group, a domain of yours, as example.com");
  }
  if (!validation::IsDNS1035Label(options.version).empty()) {
    return Status::BadRequest("the version \"" + options.version + "\" must be as v1 or v1alpha1");
  }
  return {};
}

// The C++ namespace and library name: a valid C++ identifier that differs from the program's name.
std::string NamespaceOf(const std::string& name) {
  std::string ns = name;
  std::replace(ns.begin(), ns.end(), '-', '_');
  return ns == name || IsCppWord(ns) ? ns + "_operator" : ns;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ScaffoldOperator(
    const ScaffoldOptions& options) {
  COX_RETURN_IF_ERROR(Check(options));
  const Frame& frame = options.kind.empty() ? ConfigMapFrame() : CustomKindFrame();
  // The parts first, because they contain placeholders.
  std::vector<std::pair<std::string_view, std::string>> values(frame.parts.begin(),
                                                               frame.parts.end());
  values.insert(values.end(), {{"@INCLUDE@", "#include"},
                               {"@NAME@", options.name},
                               {"@NS@", NamespaceOf(options.name)},
                               {"@KIND@", options.kind},
                               {"@GROUP@", options.group},
                               {"@VERSION@", options.version},
                               {"@FILE@", SnakeCase(options.kind)},
                               {"@PLURAL@", GuessPlural(options.kind)}});
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::span<const Template> templates : {frame.files, CommonTemplates()}) {
    for (const Template& file : templates) {
      files.emplace_back(Fill(file.path, values), Fill(file.text, values));
    }
  }
  return files;
}

}  // namespace cox::sdk
