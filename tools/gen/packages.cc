// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

namespace cox::gen {
namespace {

// Appends the names of the atomic list fields, including those of inlined structs.
void AppendAtomicLists(const Model& model, const Package& package, const StructDef& def,
                       std::string* out) {
  for (const FieldDef& field : def.fields) {
    if (field.inlined) {
      const Package* from = field.type.package.empty() ? &package : model.Find(field.type.package);
      const StructDef* inner = from != nullptr ? from->FindStruct(field.type.name) : nullptr;
      if (inner != nullptr) AppendAtomicLists(model, *from, *inner, out);
    } else if (field.list_type == "atomic") {
      *out += Quoted(field.name) + ", ";
    }
  }
}

}  // namespace

std::string EmitPackages(const Model& model) {
  std::string includes, arrays, packages;
  int number = 0;
  for (const auto& [path, package] : model.packages) {
    if (package.messages) continue;
    includes += "#include \"api/" + path + ".h\"\n";
    const std::string id = std::to_string(number++);
    const std::string space = "::cox::" + Namespace(path) + "::";
    std::string structs, enums;
    for (const StructDef& def : package.structs) {
      if (def.codec == "json") continue;  // a RawJson in C++, not a struct
      std::string atomic;
      AppendAtomicLists(model, package, def, &atomic);
      std::string span;
      if (!atomic.empty()) {
        span = "kAtomic" + id + def.name;
        arrays += "constexpr std::string_view " + span + "[] = {" + atomic + "};\n";
      }
      structs += "    {.name = " + Quoted(def.name) + ", .type = &" + space + def.name + "::kType" +
                 (span.empty() ? "" : ", .atomic_lists = " + span) + "},\n";
    }
    for (const EnumDef& def : package.enums) {
      if (def.closed) enums += "    &" + space + "types::" + def.name + ",\n";
    }
    if (!structs.empty()) {
      arrays += "constinit const StructInfo kStructs" + id + "[] = {\n" + structs + "};\n";
    }
    if (!enums.empty()) {
      arrays += "constinit const Type* const kEnums" + id + "[] = {\n" + enums + "};\n";
    }
    packages += "    {.path = " + Quoted(path) +
                ", .structs = " + (structs.empty() ? "{}" : "kStructs" + id) +
                ", .closed_enums = " + (enums.empty() ? "{}" : "kEnums" + id) + "},\n";
  }
  return "// Made by tools/gen.\n#include \"object/packages.h\"\n\n" + includes +
         "\nnamespace cox {\nnamespace {\n\n" + arrays +
         "\nconstinit const PackageInfo kPackages[] = {\n" + packages +
         "};\n\n}  // namespace\n\nstd::span<const PackageInfo> AllPackages() { return kPackages; "
         "}\n\n}  // namespace cox\n";
}

}  // namespace cox::gen
