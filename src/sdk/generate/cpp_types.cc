// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/cpp_types.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "object/json/json.h"

namespace cox::sdk {
namespace {

constexpr int kMaxDepth = 64;

constexpr std::string_view kWords[] = {
    "alignas", "alignof",   "and",    "asm",      "auto",     "bool",     "break",    "case",
    "catch",   "char",      "class",  "concept",  "const",    "continue", "default",  "delete",
    "do",      "double",    "else",   "enum",     "explicit", "export",   "extern",   "false",
    "float",   "for",       "friend", "goto",     "if",       "inline",   "int",      "long",
    "mutable", "namespace", "new",    "noexcept", "not",      "nullptr",  "operator", "or",
    "private", "protected", "public", "register", "requires", "return",   "short",    "signed",
    "sizeof",  "static",    "struct", "switch",   "template", "this",     "throw",    "true",
    "try",     "typedef",   "typeid", "typename", "union",    "unsigned", "using",    "virtual",
    "void",    "volatile",  "while",  "xor",      "kType",    "kKind"};

std::string_view Text(const Value& object, std::string_view member) {
  const Value* value = object.Find(member);
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

bool Flag(const Value& object, std::string_view member) {
  const Value* value = object.Find(member);
  return value != nullptr && value->is_bool() && value->as_bool();
}

// A name that C++ takes. What JSON calls it may differ.
std::string Identifier(std::string_view json_name) {
  std::string name;
  for (const char c : json_name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "_" + name;
  const bool word = std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
  // A trailing underscore is taken off again for JSON: one that belongs to the name needs another.
  return word || name.ends_with('_') ? name + "_" : name;
}

std::string Capital(std::string_view name) {
  std::string out = Identifier(name);
  while (out.ends_with('_')) out.pop_back();
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

// JSON's escapes are C++'s too.
std::string Literal(std::string_view text) { return json::Write(Value(text)); }

std::string Number(const Value& value) { return json::Write(value); }

// Lines of prose, folded, as comments.
void Comment(std::string_view text, std::string_view indent, std::string& out) {
  constexpr size_t kWidth = 92;
  std::string line;
  const auto flush = [&] {
    // A backslash at the end would take the next line into the comment.
    if (line.ends_with('\\')) line += '.';
    if (!line.empty()) out += std::string(indent) + "//" + line + "\n";
    line.clear();
  };
  for (std::string_view paragraph : Split(text, '\n')) {
    for (std::string_view word : Split(paragraph, ' ')) {
      if (word.empty()) continue;
      if (line.size() + word.size() > kWidth) flush();
      line += " " + std::string(word);
    }
    flush();
  }
}

class Writer {
 public:
  // Structs are appended before those that contain them.
  Result<std::string> Struct(const Value& schema, const std::string& name, int depth) {
    if (depth > kMaxDepth) return Status::BadRequest(name + ": nested too deeply");
    if (!names_.insert(name).second) return Status::BadRequest(name + ": two structs of that name");
    std::string members;
    std::string fields;
    const Value* properties = schema.Find("properties");
    if (properties != nullptr && properties->is_object()) {
      for (const auto& [json_name, property] : properties->as_object()) {
        COX_ASSIGN_OR_RETURN(const std::string type, Member(property, name, json_name, depth));
        const bool required = IsRequired(schema, json_name);
        const std::string member = Identifier(json_name);
        Comment(Text(property, "description"), "  ", members);
        members += "  " + (required ? type : Optional(type)) + " " + member +
                   (Initial(type, required)) + ";\n";
        fields += ",\n           " + FieldOf(property, json_name, member, required);
      }
    }
    Comment(Text(schema, "description"), "", header_);
    header_ += "struct " + name + " {\n" + members + "\n  static const cox::Type kType;\n};\n\n";
    source_ += "COX_STRUCT(" + name + ", " + Literal(Text(schema, "description")) + fields + ")\n";
    return name;
  }

  static bool IsRequired(const Value& schema, std::string_view name) {
    const Value* required = schema.Find("required");
    if (required == nullptr || !required->is_array()) return false;
    return std::any_of(required->as_array().begin(), required->as_array().end(),
                       [name](const Value& v) { return v.is_string() && v.as_string() == name; });
  }

  static std::string FieldOf(const Value& property, std::string_view json_name,
                             const std::string& member, bool required) {
    std::string plain = member;
    if (plain.ends_with('_')) plain.pop_back();
    std::string out = plain == json_name
                          ? "COX_FIELD(" + member + ")"
                          : "COX_FIELD_NAMED(" + member + ", " + Literal(json_name) + ")";
    if (required) out += ".Required()";
    const auto text = [&](std::string_view key, std::string_view method) {
      if (const std::string_view value = Text(property, key); !value.empty()) {
        out += "." + std::string(method) + "(" + Literal(value) + ")";
      }
    };
    const auto number = [&](std::string_view key, std::string_view method) {
      const Value* value = property.Find(key);
      if (value != nullptr && value->is_number()) {
        out += "." + std::string(method) + "(" + Number(*value) + ")";
      }
    };
    text("description", "Doc");
    text("pattern", "Pattern");
    number("minimum", "Minimum");
    number("maximum", "Maximum");
    number("minLength", "MinLength");
    number("maxLength", "MaxLength");
    number("minItems", "MinItems");
    number("maxItems", "MaxItems");
    if (const Value* value = property.Find("default")) {
      out += ".Default(" + Literal(json::Write(*value)) + ")";
    }
    if (const Value* values = property.Find("enum"); values != nullptr && values->is_array()) {
      std::vector<std::string> literals;
      for (const Value& value : values->as_array()) {
        if (value.is_string()) literals.push_back(Literal(value.as_string()));
      }
      if (!literals.empty()) out += ".OneOf({" + Join(literals, ", ") + "})";
    }
    out += ListMethods(property) + Rules(property);
    return out;
  }

  std::string header_;
  std::string source_;

 private:
  static std::string ListMethods(const Value& property) {
    const std::string_view type = Text(property, "x-kubernetes-list-type");
    if (type == "set") return ".ListSet()";
    const Value* keys = property.Find("x-kubernetes-list-map-keys");
    if (type != "map" || keys == nullptr || !keys->is_array()) return "";
    std::vector<std::string> literals;
    for (const Value& key : keys->as_array()) {
      if (key.is_string()) literals.push_back(Literal(key.as_string()));
    }
    return ".ListMap({" + Join(literals, ", ") + "})";
  }

  static std::string Rules(const Value& property) {
    std::string out;
    const Value* rules = property.Find("x-kubernetes-validations");
    if (rules == nullptr || !rules->is_array()) return out;
    for (const Value& rule : rules->as_array()) {
      out += ".Rule(" + Literal(Text(rule, "rule")) + ", " + Literal(Text(rule, "message")) + ")";
    }
    return out;
  }

  static bool IsContainer(std::string_view type) {
    return type.starts_with("std::vector") || type.starts_with("cox::Map") ||
           type == "cox::RawJson";
  }
  bool IsStruct(const std::string& type) const { return names_.contains(type); }

  std::string Optional(const std::string& type) const {
    if (IsContainer(type)) return type;  // empty is absent
    return IsStruct(type) ? "cox::Box<" + type + ">" : "std::optional<" + type + ">";
  }
  static std::string Initial(const std::string& type, bool required) {
    if (!required) return "";
    if (type == "bool") return " = false";
    return type == "int32_t" || type == "int64_t" || type == "double" ? " = 0" : "";
  }

  // The C++ type of a property.
  Result<std::string> Member(const Value& schema, const std::string& parent,
                             std::string_view json_name, int depth) {
    const std::string_view type = Text(schema, "type");
    const std::string_view format = Text(schema, "format");
    if (Flag(schema, "x-kubernetes-int-or-string")) {
      const bool quantity = Text(schema, "pattern").find("[KMGTPE]i") != std::string_view::npos;
      return std::string(quantity ? "cox::Quantity" : "cox::IntOrString");
    }
    if (type == "boolean") return std::string("bool");
    if (type == "integer") return std::string(format == "int32" ? "int32_t" : "int64_t");
    if (type == "number") return std::string("double");
    if (type == "string") return std::string(format == "date-time" ? "cox::Time" : "std::string");
    if (type == "array") {
      const Value* items = schema.Find("items");
      if (items == nullptr)
        return Status::BadRequest(parent + "." + std::string(json_name) +
                                  ": an array without items");
      COX_ASSIGN_OR_RETURN(std::string item, Member(*items, parent, json_name, depth + 1));
      if (item == "bool") item = "cox::Bool";
      return "std::vector<" + item + ">";
    }
    const Value* properties = schema.Find("properties");
    if (properties != nullptr && properties->is_object() && !properties->as_object().empty() &&
        !Flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      return Struct(schema, parent + Capital(json_name), depth + 1);
    }
    if (const Value* values = schema.Find("additionalProperties");
        values != nullptr && values->is_object()) {
      COX_ASSIGN_OR_RETURN(const std::string value, Member(*values, parent, json_name, depth + 1));
      return "cox::Map<" + value + ">";
    }
    return std::string("cox::RawJson");
  }

  std::set<std::string> names_;
};

std::string KindOptionsOf(const Value& spec, const Value& version, std::string_view group) {
  const Value& names = *spec.Find("names");
  std::string out = "(cox::KindOptions{.group = " + Literal(group) +
                    ", .version = " + Literal(Text(version, "name")) +
                    ", .plural = " + Literal(Text(names, "plural"));
  if (!Text(names, "singular").empty()) out += ", .singular = " + Literal(Text(names, "singular"));
  const auto list = [&](std::string_view member, std::string_view field) {
    const Value* values = names.Find(member);
    if (values == nullptr || !values->is_array() || values->as_array().empty()) return;
    std::vector<std::string> literals;
    for (const Value& value : values->as_array()) {
      if (value.is_string()) literals.push_back(Literal(value.as_string()));
    }
    out += ", ." + std::string(field) + " = {" + Join(literals, ", ") + "}";
  };
  list("shortNames", "short_names");
  list("categories", "categories");
  if (Text(spec, "scope") == "Cluster") out += ", .namespaced = false";
  if (version.At({"subresources", "status"}) == nullptr) out += ", .status = false";
  if (const Value* scale = version.At({"subresources", "scale"})) {
    out += ", .scale_spec_path = " + Literal(Text(*scale, "specReplicasPath")) +
           ", .scale_status_path = " + Literal(Text(*scale, "statusReplicasPath"));
    if (const std::string_view path = Text(*scale, "labelSelectorPath"); !path.empty()) {
      out += ", .scale_selector_path = " + Literal(path);
    }
  }
  const Value* columns = version.Find("additionalPrinterColumns");
  if (columns != nullptr && columns->is_array() && !columns->as_array().empty()) {
    std::vector<std::string> rows;
    for (const Value& column : columns->as_array()) {
      rows.push_back("{.name = " + Literal(Text(column, "name")) +
                     ", .type = " + Literal(Text(column, "type")) +
                     ", .json_path = " + Literal(Text(column, "jsonPath")) + "}");
    }
    out += ", .columns = {" + Join(rows, ", ") + "}";
  }
  if (const Value* schema = version.At({"schema", "openAPIV3Schema"});
      schema != nullptr && !Text(*schema, "description").empty()) {
    out += ", .doc = " + Literal(Text(*schema, "description"));
  }
  return out + "})";
}

Result<CppTypes> TypesOf(const Value& spec, const Value& version, const CppTypesOptions& options) {
  const Value& names = *spec.Find("names");
  const std::string kind(Text(names, "kind"));
  const Value* schema = version.At({"schema", "openAPIV3Schema"});
  if (schema == nullptr) return Status::BadRequest(kind + ": the version has no schema");
  CppTypes types;
  types.version = Text(version, "name");
  Writer writer;
  std::string members;
  std::string fields;
  const Value* properties = schema->Find("properties");
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [name, property] : properties->as_object()) {
      if (name == "kind" || name == "apiVersion" || name == "metadata") continue;
      COX_ASSIGN_OR_RETURN(const std::string type,
                           writer.Struct(property, kind + Capital(name), 0));
      const std::string member = Identifier(name);
      members += "  " + type + " " + member + ";\n";
      fields += ",\n         " +
                Writer::FieldOf(property, name, member, Writer::IsRequired(*schema, name));
    }
  }
  const std::string space = options.ns + "::" + Identifier(types.version);
  std::string singular(Text(names, "singular"));
  if (singular.empty()) singular = kind;
  const std::string header_name =
      options.header_name.empty() ? singular + "_" + types.version + ".h" : options.header_name;
  const std::string made = "// Made by `coxswain generate types`; edit the definition instead.\n";
  types.header = made +
                 "#pragma once\n\n#include <cstdint>\n#include <optional>\n#include <string>\n"
                 "#include <vector>\n\n#include \"coxswain/custom_resource.h\"\n\nnamespace " +
                 space + " {\n\n" + writer.header_;
  Comment(Text(*schema, "description"), "", types.header);
  types.header +=
      "struct " + kind + " {\n  cox::meta::v1::ObjectMeta metadata;\n" + members +
      "\n  static const cox::Type kType;\n  static const cox::KindInfo kKind;\n};\n\n}  "
      "// namespace " +
      space + "\n";
  types.source = made + "#include " + Literal(header_name) + "\n\nnamespace " + space + " {\n\n" +
                 writer.source_ + "COX_KIND(" + kind + ", " +
                 KindOptionsOf(spec, version, Text(spec, "group")) + fields +
                 ")\n\n}  // namespace " + space + "\n";
  return types;
}

}  // namespace

Result<std::vector<CppTypes>> CppTypesFromCrd(const Value& definition,
                                              const CppTypesOptions& options) {
  const Value* spec = definition.Find("spec");
  if (Text(definition, "kind") != "CustomResourceDefinition" ||
      Text(definition, "apiVersion") != "apiextensions.k8s.io/v1" || spec == nullptr ||
      spec->Find("names") == nullptr || Text(*spec->Find("names"), "kind").empty()) {
    return Status::BadRequest("not a CustomResourceDefinition of apiextensions.k8s.io/v1");
  }
  const Value* versions = spec->Find("versions");
  std::vector<CppTypes> all;
  if (versions != nullptr && versions->is_array()) {
    for (const Value& version : versions->as_array()) {
      const bool wanted = options.only_version.empty()
                              ? Flag(version, "served")
                              : Text(version, "name") == options.only_version;
      if (!wanted) continue;
      COX_ASSIGN_OR_RETURN(CppTypes types, TypesOf(*spec, version, options));
      all.push_back(std::move(types));
    }
  }
  if (all.empty()) return Status::BadRequest("the definition has no such version");
  return all;
}

}  // namespace cox::sdk
