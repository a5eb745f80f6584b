// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "model.h"

namespace cox::gen {
namespace {

namespace fs = std::filesystem;

const std::set<std::string> kBuiltin = {
    "bool", "int32",     "int64",    "float64",     "string",       "bytes",    "Quantity",
    "Time", "MicroTime", "Duration", "IntOrString", "RawExtension", "FieldsV1", "any"};

std::vector<std::string> Split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t end = text.find(by);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

bool Consume(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// Reads one file line by line. Indented lines belong to the last struct, enum or kind.
class FileParser {
 public:
  FileParser(const fs::path& path, Package* package) : path_(path), package_(*package) {}

  void Run() {
    std::ifstream in(path_);
    std::string line;
    while (std::getline(in, line)) {
      ++line_number_;
      if (line.empty() || line[0] == '#') continue;
      std::vector<std::string> words = Split(line, ' ');
      if (line[0] == ' ') {
        Indented(line, words);
      } else {
        TopLevel(words);
      }
    }
  }

 private:
  enum class In { kNothing, kKind, kEnum, kStruct };

  [[noreturn]] void Die(const std::string& what) const {
    std::fprintf(stderr, "%s:%d: %s\n", path_.c_str(), line_number_, what.c_str());
    std::exit(1);
  }

  void TopLevel(const std::vector<std::string>& words) {
    const std::string& what = words[0];
    if (words.size() < 2) Die("a name must follow \"" + what + "\"");
    in_ = In::kNothing;
    if (what == "group") {
      package_.group = words[1] == "core" ? "" : words[1];
    } else if (what == "messages") {
      package_.messages = true;
    } else if (what == "kind") {
      in_ = In::kKind;
      package_.kinds.push_back({.name = words[1]});
    } else if (what == "enum") {
      in_ = In::kEnum;
      if (words.size() < 3 || (words[2] != "string" && words[2] != "int32")) {
        Die("only enums of string and int32 are known");
      }
      package_.enums.push_back({.name = words[1],
                                .closed = words.size() > 3 && words[3] == "closed",
                                .number = words[2] == "int32",
                                .values = {}});
    } else if (what == "list") {
      package_.lists.push_back({.name = words[1], .element = words[2]});
    } else if (what == "alias") {
      package_.aliases.push_back({.name = words[1], .target = ParseType(words[2])});
    } else if (what == "struct") {
      in_ = In::kStruct;
      StructDef def{.name = words[1]};
      for (size_t i = 2; i < words.size(); ++i) {
        if (words[i] == "typemeta") {
          def.type_meta = true;
        } else if (words[i] == "atomic") {
          def.atomic = true;
        } else if (words[i].starts_with("codec=")) {
          def.codec = words[i].substr(6);
        } else {
          Die("unknown struct attribute \"" + words[i] + "\"");
        }
      }
      package_.structs.push_back(def);
    } else if (what != "package") {
      Die("unknown line \"" + what + "\"");
    }
  }

  void Indented(const std::string& line, const std::vector<std::string>& words) {
    switch (in_) {
      case In::kKind:
        return KindLine(words, &package_.kinds.back());
      case In::kEnum: {
        if (package_.enums.back().number) {
          if (words.size() != 2) Die("a constant and its number");
          package_.enums.back().values.emplace_back(words[0], words[1]);
          return;
        }
        size_t quote = line.find('"');
        if (quote == std::string::npos || line.back() != '"') Die("an enum value must be quoted");
        package_.enums.back().values.emplace_back(words[0],
                                                  line.substr(quote + 1, line.size() - quote - 2));
        return;
      }
      case In::kStruct:
        return FieldLine(words);
      case In::kNothing:
        Die("indented line outside of kind, enum and struct");
    }
  }

  void KindLine(const std::vector<std::string>& words, KindDef* kind) {
    std::vector<std::string> rest(words.begin() + 1, words.end());
    if (words[0] == "plural") {
      kind->plural = rest.at(0);
    } else if (words[0] == "singular") {
      kind->singular = rest.at(0);
    } else if (words[0] == "short") {
      kind->short_names = rest;
    } else if (words[0] == "categories") {
      kind->categories = rest;
    } else if (words[0] == "scope") {
      kind->namespaced = rest.at(0) == "namespaced";
    } else if (words[0] == "verbs") {
      kind->verbs = rest;
    } else if (words[0] == "subresource") {
      if (rest.size() < 3) Die("subresource NAME GROUP/VERSION KIND VERBS...");
      size_t slash = rest[1].rfind('/');
      std::string group = rest[1].substr(0, slash);
      kind->subresources.push_back({.name = rest[0],
                                    .group = group == "core" ? "" : group,
                                    .version = rest[1].substr(slash + 1),
                                    .kind = rest[2],
                                    .verbs = {rest.begin() + 3, rest.end()}});
    } else {
      Die("unknown kind attribute \"" + words[0] + "\"");
    }
  }

  TypeRef ParseType(std::string_view text) const {
    TypeRef ref;
    ref.pointer = Consume(&text, "*");
    if (Consume(&text, "[]")) {
      ref.container = TypeRef::kList;
    } else if (Consume(&text, "map[")) {
      ref.container = TypeRef::kMap;
      text.remove_prefix(text.find(']') + 1);  // every key is a string
    }
    if (ref.container != TypeRef::kPlain &&
        (ref.pointer || text.starts_with('*') || text.starts_with('['))) {
      Die("containers of containers and pointers to them are not known");
    }
    size_t dot = text.rfind('.');
    if (dot != std::string_view::npos) {
      ref.package = text.substr(0, dot);
      ref.name = text.substr(dot + 1);
    } else {
      ref.name = text;
      if (!kBuiltin.contains(ref.name)) ref.package = package_.Path();
    }
    return ref;
  }

  void FieldLine(const std::vector<std::string>& words) {
    if (words.size() < 3) Die("a field needs a name, a number and a type");
    FieldDef field{
        .name = words[0], .number = std::atoi(words[1].c_str()), .type = ParseType(words[2])};
    for (size_t i = 3; i < words.size(); ++i) {
      std::string_view word = words[i];
      if (word == "omitempty") {
        field.omit_empty = true;
      } else if (word == "omitzero") {
        field.omit_zero = true;
      } else if (word == "required") {
        field.required = true;
      } else if (word == "atomic") {
        field.atomic = true;
      } else if (word == "granular") {
        field.granular = true;
      } else if (word == "inline") {
        field.inlined = true;
      } else if (Consume(&word, "default=")) {
        field.default_json = word;
      } else if (Consume(&word, "list=")) {
        field.list_type = word;
      } else if (Consume(&word, "keys=")) {
        field.keys = Split(word, ',');
      } else if (Consume(&word, "patch=")) {
        field.patch_strategies = Split(word, ',');
      } else if (Consume(&word, "mergeKey=")) {
        field.merge_key = word;
      } else {
        Die("unknown field attribute \"" + words[i] + "\"");
      }
    }
    package_.structs.back().fields.push_back(field);
  }

  fs::path path_;
  Package& package_;
  int line_number_ = 0;
  In in_ = In::kNothing;
};

std::vector<GroupDef> ReadGroups(const fs::path& path) {
  std::vector<GroupDef> groups;
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("unserved")) break;
    std::vector<std::string> words = Split(line, ' ');
    if (words.size() < 4 || words[0] != "group") continue;
    groups.push_back({.group = words[1] == "core" ? "" : words[1],
                      .versions = {words.begin() + 3, words.end()}});
  }
  return groups;
}

// A kind that is a field of another object (not an item of its list kind) may contain kind and
// apiVersion, for example the volume claim templates of a StatefulSet. Its struct gets them as
// ordinary fields that are not in protobuf.
void AddNestedTypeMeta(Model* model) {
  for (auto& [path, outer] : model->packages) {
    for (const StructDef& holder : outer.structs) {
      for (const FieldDef& field : holder.fields) {
        auto at = model->packages.find(field.type.package);
        if (at == model->packages.end() || (holder.type_meta && field.name == "items")) continue;
        for (StructDef& def : at->second.structs) {
          if (def.name != field.type.name || !def.type_meta || def.fields.empty() ||
              def.fields[0].name == "kind")
            continue;
          TypeRef text{.name = "string"};
          def.fields.insert(def.fields.begin(),
                            {FieldDef{.name = "kind", .type = text, .omit_empty = true},
                             FieldDef{.name = "apiVersion", .type = text, .omit_empty = true}});
        }
      }
    }
  }
}

template <class T>
const T* FindByName(const std::vector<T>& all, const std::string& name) {
  auto at = std::find_if(all.begin(), all.end(), [&](const T& t) { return t.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

const StructDef* Package::FindStruct(const std::string& name) const {
  return FindByName(structs, name);
}
const EnumDef* Package::FindEnum(const std::string& name) const { return FindByName(enums, name); }
const ListDef* Package::FindList(const std::string& name) const { return FindByName(lists, name); }

const Package* Model::Find(const std::string& path) const {
  auto at = packages.find(path);
  return at == packages.end() ? nullptr : &at->second;
}

Model ReadModel(const std::string& api_dir) {
  Model model;
  for (const auto& entry : fs::recursive_directory_iterator(api_dir)) {
    if (entry.path().extension() != ".api" || entry.path().stem() == "groups") continue;
    Package package{.dir = entry.path().parent_path().filename(), .version = entry.path().stem()};
    FileParser(entry.path(), &package).Run();
    model.packages.emplace(package.Path(), package);
  }
  AddNestedTypeMeta(&model);
  model.served = ReadGroups(fs::path(api_dir) / "groups.api");
  return model;
}

}  // namespace cox::gen
