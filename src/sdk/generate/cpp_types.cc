// SPDX-License-Identifier: Apache-2.0
#include "sdk/generate/cpp_types.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/validation/names.h"
#include "sdk/generate/cpp_words.h"

namespace cox::sdk {
namespace {

constexpr int kMaxDepth = 64;

std::string_view Text(const Value& object, std::string_view member) {
  const Value* value = object.Find(member);
  return value != nullptr && value->is_string() ? value->as_string() : std::string_view();
}

bool Flag(const Value& object, std::string_view member) {
  const Value* value = object.Find(member);
  return value != nullptr && value->is_bool() && value->as_bool();
}

// A valid C++ identifier, which may differ from the JSON name.
std::string Identifier(std::string_view json_name) {
  std::string name;
  for (const char c : json_name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "_" + name;
  const bool taken = IsCppWord(name) || name == "kType" || name == "kKind";
  return taken ? name + "_" : name;
}

std::string Capital(std::string_view name) {
  std::string out = Identifier(name);
  while (out.size() > 1 && out.ends_with('_')) out.pop_back();
  out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// JSON's escapes are valid in C++.
std::string Literal(std::string_view text) { return json::Write(Value(text)); }

std::string Number(const Value& value) { return json::Write(value); }

// The strings of an array as a comma-separated list of literals; empty if there are none.
std::string Literals(const Value* values) {
  std::vector<std::string> literals;
  if (values == nullptr || !values->is_array()) return "";
  for (const Value& value : values->as_array()) {
    if (value.is_string()) literals.push_back(Literal(value.as_string()));
  }
  return Join(literals, ", ");
}

// Writes text as wrapped comment lines.
void Comment(std::string_view text, std::string_view indent, std::string& out) {
  constexpr size_t kWidth = 92;
  std::string line;
  const auto flush = [&] {
    // A trailing backslash would continue the comment on the next line.
    if (line.ends_with('\\')) line += '.';
    if (!line.empty()) out += std::string(indent) + "//" + line + "\n";
    line.clear();
  };
  for (std::string_view paragraph : Split(text, '\n')) {
    std::string plain(paragraph);
    // Some compilers also treat a carriage return as the end of a line.
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
    for (std::string_view word : Split(plain, ' ')) {
      if (word.empty()) continue;
      if (line.size() + word.size() > kWidth) flush();
      line += " " + std::string(word);
    }
    flush();
  }
}

// The members of a struct, and its field descriptions.
struct Body {
  std::string members;
  std::string fields;
};

class Writer {
 public:
  explicit Writer(std::string kind) : kind_(std::move(kind)), names_{kind_} {}

  // The kind itself: structs such as spec and status are plain members even if they are optional.
  Result<Body> Root(const Value& schema) {
    if (Flag(schema, "x-kubernetes-preserve-unknown-fields")) {
      return Status::BadRequest(kind_ + ": a struct would lose its unknown fields");
    }
    return BodyOf(schema, kind_, 0);
  }

  // The nested structs, each before the structs that contain it.
  const std::string& header() const { return header_; }
  const std::string& source() const { return source_; }

 private:
  Result<std::string> Struct(const Value& schema, const std::string& name, int depth) {
    if (!names_.insert(name).second) return Status::BadRequest(name + ": two structs of that name");
    COX_ASSIGN_OR_RETURN(const Body body, BodyOf(schema, name, depth));
    Comment(Text(schema, "description"), "", header_);
    header_ +=
        "struct " + name + " {\n" + body.members + "\n  static const cox::Type kType;\n};\n\n";
    source_ +=
        "COX_STRUCT(" + name + ", " + Literal(Text(schema, "description")) + body.fields + ")\n";
    return name;
  }

  Result<Body> BodyOf(const Value& schema, const std::string& name, int depth) {
    Body body;
    const Value* properties = schema.Find("properties");
    if (properties == nullptr || !properties->is_object()) return body;
    const bool root = name == kind_;
    std::set<std::string> taken;
    for (const auto& [json_name, property] : properties->as_object()) {
      if (root && (json_name == "kind" || json_name == "apiVersion" || json_name == "metadata")) {
        continue;
      }
      COX_ASSIGN_OR_RETURN(const std::string type, Member(property, name, json_name, depth));
      const bool required = IsRequired(schema, json_name);
      const bool plain = required || (root && IsStruct(type));
      // "on-error" and "on_error" map to the same identifier.
      std::string member = Identifier(json_name);
      while (!taken.insert(member).second) member += '_';
      Comment(Text(property, "description"), "  ", body.members);
      body.members +=
          "  " + (plain ? type : Optional(type)) + " " + member + Initial(type, required) + ";\n";
      body.fields += (root ? ",\n         " : ",\n           ") + FieldOf(json_name, member) +
                     (required ? ".Required()" : "") + NotesOf(property, type);
    }
    return body;
  }

  static bool IsRequired(const Value& schema, std::string_view name) {
    const Value* required = schema.Find("required");
    if (required == nullptr || !required->is_array()) return false;
    return std::any_of(required->as_array().begin(), required->as_array().end(),
                       [name](const Value& v) { return v.is_string() && v.as_string() == name; });
  }

  static std::string FieldOf(std::string_view json_name, const std::string& member) {
    std::string_view plain = member;
    if (plain.ends_with('_')) plain.remove_suffix(1);  // like COX_FIELD
    return plain == json_name ? "COX_FIELD(" + member + ")"
                              : "COX_FIELD_NAMED(" + member + ", " + Literal(json_name) + ")";
  }

  // The constraints of a property.
  static std::string NotesOf(const Value& property, std::string_view type) {
    std::string out;
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
    if (Text(property, "format") != FormatOf(type)) text("format", "Format");
    number("minimum", "Minimum");
    number("maximum", "Maximum");
    number("minLength", "MinLength");
    number("maxLength", "MaxLength");
    number("minItems", "MinItems");
    number("maxItems", "MaxItems");
    if (const Value* value = property.Find("default")) {
      out += ".Default(" + Literal(json::Write(*value)) + ")";
    }
    if (const std::string values = Literals(property.Find("enum")); !values.empty()) {
      out += ".OneOf({" + values + "})";
    }
    return out + ListMethods(property) + Rules(property);
  }

  // The format implied by a C++ type.
  static std::string_view FormatOf(std::string_view type) {
    if (type == "int32_t") return "int32";
    if (type == "int64_t") return "int64";
    if (type == "double") return "double";
    return type == "cox::Time" ? "date-time" : "";
  }

  static std::string ListMethods(const Value& property) {
    if (Text(property, "type") != "array") return "";
    const std::string_view type = Text(property, "x-kubernetes-list-type");
    if (type == "set") return ".ListSet()";
    const std::string keys = Literals(property.Find("x-kubernetes-list-map-keys"));
    return type == "map" && !keys.empty() ? ".ListMap({" + keys + "})" : "";
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
    if (IsContainer(type)) return type;  // empty means absent
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
    if (depth > kMaxDepth) return Status::BadRequest(parent + ": nested too deeply");
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
    // For these, the server stores more than the schema describes.
    if (Flag(schema, "x-kubernetes-preserve-unknown-fields") ||
        Flag(schema, "x-kubernetes-embedded-resource")) {
      return std::string("cox::RawJson");
    }
    const Value* properties = schema.Find("properties");
    if (properties != nullptr && properties->is_object() && !properties->as_object().empty()) {
      return Struct(schema, parent + Capital(json_name), depth + 1);
    }
    if (const Value* values = schema.Find("additionalProperties");
        values != nullptr && values->is_object()) {
      COX_ASSIGN_OR_RETURN(const std::string value, Member(*values, parent, json_name, depth + 1));
      return "cox::Map<" + value + ">";
    }
    return std::string("cox::RawJson");
  }

  const std::string kind_;
  std::set<std::string> names_;
  std::string header_;
  std::string source_;
};

// A deprecated version without its own warning gets the default one, because KindOptions marks
// deprecation only by the warning.
std::string DeprecationWarning(const Value& version, std::string_view group,
                               std::string_view kind) {
  if (!Flag(version, "deprecated")) return "";
  const std::string_view own = Text(version, "deprecationWarning");
  if (!own.empty()) return std::string(own);
  return std::string(group) + "/" + std::string(Text(version, "name")) + " " + std::string(kind) +
         " is deprecated";
}

std::string ColumnOf(const Value& column) {
  std::string out = "{.name = " + Literal(Text(column, "name")) +
                    ", .type = " + Literal(Text(column, "type")) +
                    ", .json_path = " + Literal(Text(column, "jsonPath"));
  if (const std::string_view text = Text(column, "description"); !text.empty()) {
    out += ", .description = " + Literal(text);
  }
  const Value* priority = column.Find("priority");
  if (priority != nullptr && priority->is_int() && priority->as_int() != 0) {
    out += ", .priority = " + Number(*priority);
  }
  return out + "}";
}

std::string KindOptionsOf(const Value& spec, const Value& version, std::string_view group) {
  const Value& names = *spec.Find("names");
  std::string out = "(cox::KindOptions{.group = " + Literal(group) +
                    ", .version = " + Literal(Text(version, "name")) +
                    ", .plural = " + Literal(Text(names, "plural"));
  if (!Text(names, "singular").empty()) out += ", .singular = " + Literal(Text(names, "singular"));
  const auto list = [&](std::string_view member, std::string_view field) {
    const std::string values = Literals(names.Find(member));
    if (!values.empty()) out += ", ." + std::string(field) + " = {" + values + "}";
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
    for (const Value& column : columns->as_array()) rows.push_back(ColumnOf(column));
    out += ", .columns = {" + Join(rows, ", ") + "}";
  }
  if (const std::string warning = DeprecationWarning(version, group, Text(names, "kind"));
      !warning.empty()) {
    out += ", .deprecation_warning = " + Literal(warning);
  }
  if (const Value* schema = version.At({"schema", "openAPIV3Schema"});
      schema != nullptr && !Text(*schema, "description").empty()) {
    out += ", .doc = " + Literal(Text(*schema, "description"));
  }
  return out + "})";
}

// Checks the names used for structs, namespaces and files.
Status CheckNames(std::string_view kind, std::string_view singular, std::string_view version) {
  if (!validation::IsCIdentifier(kind).empty() || IsCppWord(kind)) {
    return Status::BadRequest("spec.names.kind: " + Literal(kind) + " cannot name a struct");
  }
  if (!validation::IsDNS1035Label(singular).empty()) {
    return Status::BadRequest("spec.names.singular: " + Literal(singular) + " is no DNS label");
  }
  if (!validation::IsDNS1035Label(version).empty()) {
    return Status::BadRequest("spec.versions: " + Literal(version) + " is no DNS label");
  }
  return {};
}

Result<CppTypes> TypesOf(const Value& spec, const Value& version, const CppTypesOptions& options) {
  const Value& names = *spec.Find("names");
  const std::string kind(Text(names, "kind"));
  const std::string name(Text(version, "name"));
  std::string singular(Text(names, "singular"));
  if (singular.empty()) singular = Lower(kind);  // like the API server's default
  COX_RETURN_IF_ERROR(CheckNames(kind, singular, name));
  const Value* schema = version.At({"schema", "openAPIV3Schema"});
  if (schema == nullptr) return Status::BadRequest(kind + ": the version has no schema");
  Writer writer(kind);
  COX_ASSIGN_OR_RETURN(const Body body, writer.Root(*schema));
  const std::string space = options.ns + "::" + Identifier(name);
  const std::string made = "// Made by `coxswain generate types`; edit the definition instead.\n";
  CppTypes types{.stem = singular + "_" + name};
  types.header = made +
                 "#pragma once\n\n#include <cstdint>\n#include <optional>\n#include <string>\n"
                 "#include <vector>\n\n#include \"coxswain/custom_resource.h\"\n\nnamespace " +
                 space + " {\n\n" + writer.header();
  Comment(Text(*schema, "description"), "", types.header);
  types.header +=
      "struct " + kind + " {\n  cox::meta::v1::ObjectMeta metadata;\n" + body.members +
      "\n  static const cox::Type kType;\n  static const cox::KindInfo kKind;\n};\n\n}  "
      "// namespace " +
      space + "\n";
  types.source = made + "#include " + Literal(types.stem + ".h") + "\n\nnamespace " + space +
                 " {\n\n" + writer.source() + "COX_KIND(" + kind + ", " +
                 KindOptionsOf(spec, version, Text(spec, "group")) + body.fields +
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
      if (!Flag(version, "served")) continue;
      COX_ASSIGN_OR_RETURN(CppTypes types, TypesOf(*spec, version, options));
      all.push_back(std::move(types));
    }
  }
  if (all.empty()) return Status::BadRequest("the definition serves no version");
  return all;
}

}  // namespace cox::sdk
