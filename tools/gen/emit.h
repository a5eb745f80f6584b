// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "model.h"

// Model to C++ text.
namespace cox::gen {

// The form of a type reference in C++ and in the tables.
struct CppType {
  std::string type;        // "::cox::List<Container>", "Box<Affinity>"
  std::string value;       // the type of the item or of the pointee: "Container"
  std::string table;       // the constant Type of `value`: "Container::kType"
  std::string display;     // the name of `value` in error texts: "v1.Container"
  std::string scalar_ops;  // its name in scalar_ops, such as "String"; empty if none
  bool is_struct = false;  // `value` is a generated struct
  bool is_number = false;  // `value` names an int32_t: an enum of numbers
};
CppType ToCpp(const Model& model, const Package& from, const TypeRef& ref);

// "core::v1" for "core/v1".
std::string Namespace(const std::string& package_path);
// The name of a field as a C++ member: keywords get a trailing underscore.
std::string MemberName(const std::string& json_name);
std::string Quoted(const std::string& text);

// Field descriptions by key (api/README.md); the text has the escapes \n, \t and \\. May be
// empty.
using Descriptions = std::map<std::string, std::string>;

// The generated files of one package, and the files for all packages. Descriptions become comments
// in the header.
std::string EmitHeader(const Model& model, const Package& package,
                       const Descriptions& descriptions);
std::string EmitTables(const Model& model, const Package& package);
std::string EmitKinds(const Model& model);
std::string EmitPackages(const Model& model);
std::string EmitDescriptions(const Descriptions& descriptions);

}  // namespace cox::gen
