// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <set>

#include "emit.h"

namespace cox::gen {
namespace {

// Other packages that the structs and aliases of a package refer to.
std::set<std::string> Includes(const Package& package) {
  std::set<std::string> paths;
  for (const StructDef& def : package.structs) {
    for (const FieldDef& field : def.fields) {
      if (!field.type.package.empty() && field.type.package != package.Path())
        paths.insert(field.type.package);
    }
  }
  for (const AliasDef& alias : package.aliases) paths.insert(alias.target.package);
  return paths;
}

// Orders structs so that each follows the structs that it contains by value. Pointer fields are
// boxes, for which a forward declaration is enough.
std::vector<const StructDef*> InOrderOfUse(const Package& package) {
  std::vector<const StructDef*> ordered;
  std::set<const StructDef*> seen;
  std::function<void(const StructDef&)> visit = [&](const StructDef& def) {
    if (!seen.insert(&def).second) return;
    for (const FieldDef& field : def.fields) {
      if (field.type.pointer || field.type.package != package.Path()) continue;
      if (const StructDef* held = package.FindStruct(field.type.name)) visit(*held);
    }
    ordered.push_back(&def);
  };
  for (const StructDef& def : package.structs) visit(def);
  return ordered;
}

std::string InitialValue(const CppType& cpp, const TypeRef& ref) {
  if (ref.pointer || ref.container != TypeRef::kPlain) return "";
  if (cpp.type == "bool") return " = false";
  if (cpp.is_number || cpp.type == "int32_t" || cpp.type == "int64_t" || cpp.type == "double")
    return " = 0";
  return "";
}

// Adds the description of `key`, if there is one, as a comment of lines with at most 100
// characters.
void EmitComment(const Descriptions& descriptions, const std::string& key, std::string_view indent,
                 std::string* out) {
  const auto found = descriptions.find(key);
  if (found == descriptions.end()) return;
  const std::string start = std::string(indent) + "//";
  std::string line = start;
  std::string word;
  const auto end_line = [&] {
    // A backslash at the end would continue the comment on the next line.
    while (line.ends_with('\\')) line.pop_back();
    *out += line + "\n";
    line = start;
  };
  const auto end_word = [&] {
    if (word.empty()) return;
    if (line.size() + 1 + word.size() > 100 && line != start) end_line();
    line += " " + word;
    word.clear();
  };
  const std::string& text = found->second;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    const char c = escape ? text[++i] : text[i];
    if (escape && c == 'n') {
      end_word();
      if (line != start || !out->ends_with("//\n")) end_line();
    } else if (c == ' ' || (escape && c == 't')) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  if (line != start) end_line();
}

void EmitStruct(const Model& model, const Package& package, const StructDef& def,
                const Descriptions& descriptions, std::string* out) {
  const std::string key = package.Path() + "." + def.name;
  EmitComment(descriptions, key, "", out);
  *out += "struct " + def.name + " {\n";
  for (const FieldDef& field : def.fields) {
    EmitComment(descriptions, key + "." + field.name, "  ", out);
    CppType cpp = ToCpp(model, package, field.type);
    *out += "  " + cpp.type + " " + MemberName(field.name) + InitialValue(cpp, field.type) + ";\n";
  }
  *out += "\n  bool operator==(const " + def.name + "& other) const;\n";
  *out += "  static const ::cox::Type kType;\n";
  for (const KindDef& kind : package.kinds) {
    if (kind.name == def.name) *out += "  static const ::cox::KindInfo kKind;\n";
  }
  *out += "};\n\n";
}

// The name contains the enum's name, because enums may share words.
std::string Constant(const EnumDef& def, const std::string& name, const std::string& number) {
  return "inline constexpr " + def.name + " k" + def.name + name + " = " + number + ";\n";
}

void EmitNumbers(const EnumDef& def, std::string* out) {
  *out += "using " + def.name + " = int32_t;\n";
  for (const auto& [constant, number] : def.values) {
    *out += Constant(def, constant, number);
  }
}

}  // namespace

std::string EmitHeader(const Model& model, const Package& package,
                       const Descriptions& descriptions) {
  std::string out = "// Made by tools/gen from api/" + package.Path() + ".api.\n#pragma once\n\n";
  out += "#include \"object/type/api_types.h\"\n";
  for (const std::string& path : Includes(package)) out += "#include \"api/" + path + ".h\"\n";
  out += "\nnamespace cox::" + Namespace(package.Path()) + " {\n\n";
  for (const EnumDef& def : package.enums) {
    if (def.number) {
      EmitNumbers(def, &out);
      continue;
    }
    out += "using " + def.name + " = std::string;\n";
    for (const auto& [constant, text] : def.values) {
      out += "inline constexpr const char* k" + constant + " = " + Quoted(text) + ";\n";
    }
  }
  for (const ListDef& def : package.lists)
    out += "using " + def.name + " = ::cox::List<std::" + def.element + ">;\n";
  for (const AliasDef& def : package.aliases) {
    out += "using " + def.name + " = " + Namespace(def.target.package) + "::" + def.target.name +
           ";\n";
  }
  out += "\n";
  auto is_struct = [](const StructDef& def) { return def.codec != "json"; };
  for (const StructDef& def : package.structs) {
    out += is_struct(def) ? "struct " + def.name + ";\n" : "using " + def.name + " = RawJson;\n";
  }
  out += "\n";
  for (const StructDef* def : InOrderOfUse(package)) {
    if (is_struct(*def)) EmitStruct(model, package, *def, descriptions, &out);
  }
  out += "namespace types {\n";
  for (const EnumDef& def : package.enums) {
    if (!def.number) out += "extern const ::cox::Type " + def.name + ";\n";
  }
  for (const ListDef& def : package.lists) out += "extern const ::cox::Type " + def.name + ";\n";
  out += "}  // namespace types\n\n}  // namespace cox::" + Namespace(package.Path()) + "\n";
  return out;
}

}  // namespace cox::gen
