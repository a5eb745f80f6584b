// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>

#include "emit.h"

namespace cox::gen {
namespace {

struct BuiltinType {
  const char* cpp;
  const char* table;
  const char* display;
};

const std::map<std::string, BuiltinType> kBuiltin = {
    {"bool", {"bool", "kBool", "bool"}},
    {"int32", {"int32_t", "kInt32", "int32"}},
    {"int64", {"int64_t", "kInt64", "int64"}},
    {"float64", {"double", "kDouble", "float64"}},
    {"string", {"std::string", "kString", "string"}},
    {"bytes", {"std::string", "kBytes", "[]uint8"}},
    {"Quantity", {"Quantity", "kQuantity", "resource.Quantity"}},
    {"Time", {"Time", "kTime", "v1.Time"}},
    {"MicroTime", {"MicroTime", "kMicroTime", "v1.MicroTime"}},
    {"Duration", {"Duration", "kDuration", "v1.Duration"}},
    {"IntOrString", {"IntOrString", "kIntOrString", "intstr.IntOrString"}},
    {"RawExtension", {"RawJson", "kRawExtension", "runtime.RawExtension"}},
    {"FieldsV1", {"RawJson", "kFieldsV1", "v1.FieldsV1"}},
    {"any", {"RawJson", "kJson", "interface {}"}},
};

const std::set<std::string> kKeywords = {
    "and",      "auto",     "bool",     "break",   "case",     "catch",     "char",      "class",
    "concept",  "const",    "continue", "default", "delete",   "do",        "double",    "else",
    "enum",     "explicit", "export",   "extern",  "false",    "float",     "for",       "friend",
    "goto",     "if",       "inline",   "int",     "long",     "mutable",   "namespace", "new",
    "not",      "nullptr",  "operator", "or",      "private",  "protected", "public",    "register",
    "requires", "return",   "short",    "signed",  "sizeof",   "static",    "struct",    "switch",
    "template", "this",     "throw",    "true",    "try",      "typedef",   "typename",  "union",
    "unsigned", "using",    "virtual",  "void",    "volatile", "while",     "xor"};

}  // namespace

std::string Namespace(const std::string& package_path) {
  size_t slash = package_path.find('/');
  return package_path.substr(0, slash) + "::" + package_path.substr(slash + 1);
}

std::string MemberName(const std::string& json_name) {
  std::string name;
  bool upper = false;
  for (char c : json_name) {
    if (c == '-' || c == '$' || c == '.') {
      upper = c == '-';
    } else {
      name += upper ? static_cast<char>(std::toupper(c)) : c;
      upper = false;
    }
  }
  return kKeywords.contains(name) ? name + "_" : name;
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

CppType ToCpp(const Model& model, const Package& from, const TypeRef& ref) {
  CppType cpp;
  bool is_slice = false;
  bool is_enum = false;
  if (ref.package.empty()) {
    const BuiltinType& builtin = kBuiltin.at(ref.name);
    cpp.value = builtin.cpp;
    cpp.table = std::string("::cox::types::") + builtin.table;
    cpp.display = builtin.display;
  } else {
    const Package& package = *model.Find(ref.package);
    std::string prefix = ref.package == from.Path() ? "" : Namespace(ref.package) + "::";
    cpp.value = prefix + ref.name;
    cpp.display = package.version + "." + ref.name;
    const StructDef* def = package.FindStruct(ref.name);
    if (def != nullptr && def->codec == "json") {
      cpp.value = "RawJson";
      cpp.table = "::cox::types::kJson";
    } else if (def != nullptr) {
      cpp.is_struct = true;
      cpp.table = cpp.value + "::kType";
    } else if (const EnumDef* number = package.FindEnum(ref.name);
               number != nullptr && number->number) {
      cpp.table = "::cox::types::kInt32";
      cpp.scalar_ops = "Int32";
      cpp.is_number = true;
    } else {
      is_slice = package.FindList(ref.name) != nullptr;
      is_enum = !is_slice;
      cpp.table = prefix + "types::" + ref.name;
    }
  }
  if (cpp.table == "::cox::types::kJson" || cpp.value == "RawJson") cpp.scalar_ops = "Raw";
  if (cpp.value == "bool" && ref.container == TypeRef::kList) {
    cpp.value = "Bool";
    cpp.scalar_ops = "Bool";
  }
  if (cpp.value == "int32_t") cpp.scalar_ops = "Int32";
  if (cpp.value == "int64_t") cpp.scalar_ops = "Int64";
  if (cpp.value == "std::string" || is_enum) cpp.scalar_ops = "String";
  if (cpp.value == "Quantity" || cpp.value == "Time" || cpp.value == "IntOrString")
    cpp.scalar_ops = cpp.value;
  if (ref.container == TypeRef::kList) {
    cpp.type = "::cox::List<" + cpp.value + ">";
  } else if (ref.container == TypeRef::kMap) {
    cpp.type = "Map<" + cpp.value + ">";
  } else if (ref.pointer && !is_slice) {
    cpp.type = (cpp.is_struct ? "Box<" : "std::optional<") + cpp.value + ">";
  } else {
    cpp.type = cpp.value;
  }
  return cpp;
}

}  // namespace cox::gen
