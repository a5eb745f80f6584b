// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>

#include "emit.h"
#include "object/type/name_index_builder.h"

namespace cox::gen {
namespace {

// One row of a struct's table.
struct Row {
  const FieldDef* field;
  const Package* from;  // the package that declares the field
  std::string offset;   // an expression
  std::string type;     // an expression: the address of a Type
  bool flattened = false;
};

// The structs that are values of maps: "core::v1::Taint".
std::set<std::string> MapValues(const Model& model) {
  std::set<std::string> values;
  for (const auto& [path, package] : model.packages) {
    for (const StructDef& def : package.structs) {
      for (const FieldDef& field : def.fields) {
        if (field.type.container == TypeRef::kMap && !field.type.package.empty()) {
          values.insert(Namespace(field.type.package) + "::" + field.type.name);
        }
      }
    }
  }
  return values;
}

std::string OffsetOf(const std::string& cpp_struct, const FieldDef& field) {
  return "offsetof(" + cpp_struct + ", " + MemberName(field.name) + ")";
}

// Generates the tables of one package. Each field that is a list or a map gets its own Type,
// because the field defines how it is merged.
class TableEmitter {
 public:
  TableEmitter(const Model& model, const Package& package)
      : model_(model), package_(package), maps_(MapValues(model)) {}

  std::string Run() {
    for (const EnumDef& def : package_.enums) {
      if (!def.number) EmitEnum(def);
    }
    for (const ListDef& def : package_.lists) EmitList(def);
    for (const StructDef& def : package_.structs) {
      if (def.codec != "json") EmitStruct(def);
    }
    for (const KindDef& kind : package_.kinds) EmitKind(kind);
    std::string out = "// Made by tools/gen from api/" + package_.Path() +
                      ".api.\n#include \"api/" + package_.Path() +
                      ".h\"\n\n#include <cstddef>\n\n#include \"object/type/equal.h\"\n"
                      "#include \"object/type/kind.h\"\n#include \"object/type/type_ops.h\"\n\n"
                      "#pragma GCC diagnostic ignored \"-Winvalid-offsetof\"\n\nnamespace cox::" +
                      Namespace(package_.Path()) + " {\nnamespace {\n\n" + local_ +
                      "}  // namespace\n\n" + global_ +
                      "}  // namespace cox::" + Namespace(package_.Path()) +
                      "\n\nnamespace cox {\n" + instances_ + "}  // namespace cox\n";
    return out;
  }

 private:
  // A constant array of strings; "{}" for none.
  std::string Strings(const std::vector<std::string>& texts) {
    if (texts.empty()) return "{}";
    std::string name = "kStrings" + std::to_string(++counter_);
    local_ += "constexpr std::string_view " + name + "[] = {";
    for (const std::string& text : texts) local_ += Quoted(text) + ", ";
    local_ += "};\n";
    return name;
  }

  void EmitEnum(const EnumDef& def) {
    std::vector<std::string> values;
    for (const auto& [constant, text] : def.values) values.push_back(text);
    std::string strings = Strings(values);
    global_ += "constinit const ::cox::Type types::" + def.name + " = {.name = \"" +
               package_.version + "." + def.name +
               "\", .shape = Shape::kString, .enum_values = " + strings + "};\n";
  }

  void EmitList(const ListDef& def) {
    global_ += "constinit const ::cox::Type types::" + def.name + " = {.name = \"" +
               package_.version + "." + def.name +
               "\", .shape = Shape::kList, .wire_items = true, .element = &::cox::types::kString, "
               ".list_ops = "
               "&scalar_ops::kStringList};\n";
  }

  static std::string Ops(const CppType& cpp, const std::string& container) {
    if (!cpp.scalar_ops.empty()) return "scalar_ops::k" + cpp.scalar_ops + container;
    return "k" + container + "Ops<" + cpp.value + ">";
  }

  // Returns the Type of a field's value. Types of lists and maps are defined here.
  std::string FieldType(const Package& from, const FieldDef& field) {
    TypeRef ref = field.type;
    CppType cpp = ToCpp(model_, from, ref);
    // Types of this package are named without their namespace.
    CppType here = ToCpp(model_, package_, ref);
    if (ref.container == TypeRef::kPlain) return "&" + here.table;
    std::string keys = Strings(field.keys);
    std::string name = "kType" + std::to_string(++counter_);
    local_ += "constinit const ::cox::Type " + name + " = {.name = \"";
    if (ref.container == TypeRef::kList) {
      local_ += "[]" + cpp.display + "\", .shape = Shape::kList";
      if (field.list_type == "set") local_ += ", .list_type = ListType::kSet";
      if (field.list_type == "map") local_ += ", .list_type = ListType::kMap";
      local_ += ", .element = &" + here.table + ", .keys = " + keys + ", .list_ops = &" +
                Ops(here, "List");
    } else {
      local_ += "map[string]" + cpp.display + "\", .shape = Shape::kMap, .element = &" +
                here.table + ", .map_ops = &" + Ops(here, "Map");
    }
    local_ += "};\n";
    return "&" + name;
  }

  // Appends the rows of `def` and of the structs inlined in it. `base` is the offset of `def` with
  // " + ", or empty.
  void Rows(const Package& from, const StructDef& def, const std::string& base, bool flattened,
            std::vector<Row>* rows) {
    std::string cpp_struct =
        (from.Path() == package_.Path() ? "" : Namespace(from.Path()) + "::") + def.name;
    for (const FieldDef& field : def.fields) {
      const std::string offset = base + OffsetOf(cpp_struct, field);
      if (!field.inlined || !flattened) {
        rows->push_back({&field, &from, offset, FieldType(from, field), flattened});
      }
      if (field.inlined) {
        const Package& inner_package = *model_.Find(field.type.package);
        Rows(inner_package, *inner_package.FindStruct(field.type.name), offset + " + ", true, rows);
      }
    }
  }

  static std::string Flags(const Row& row) {
    const FieldDef& field = *row.field;
    std::string flags;
    auto add = [&flags](bool on, const char* flag) {
      if (on) flags += (flags.empty() ? "Field::" : " | Field::") + std::string(flag);
    };
    auto strategy = [&field](const char* name) {
      return std::count(field.patch_strategies.begin(), field.patch_strategies.end(), name) > 0;
    };
    add(field.type.pointer, "kPointer");
    add(field.omit_empty, "kOmitEmpty");
    add(field.omit_zero, "kOmitZero");
    add(field.inlined, "kInline");
    add(row.flattened, "kFlattened");
    add(field.required, "kRequired");
    add(field.atomic, "kAtomic");
    add(strategy("merge"), "kPatchMerge");
    add(strategy("replace"), "kPatchReplace");
    add(strategy("retainKeys"), "kPatchRetainKeys");
    add(field.granular, "kGranular");
    return flags.empty() ? "0" : flags;
  }

  void EmitStruct(const StructDef& def) {
    std::vector<Row> rows;
    Rows(package_, def, "", false, &rows);
    std::string prefix = "k" + def.name;
    if (!rows.empty()) EmitFields(rows, prefix);
    std::string index = EmitNames(rows, prefix);
    std::string wire = EmitWire(rows, prefix) + EmitOrder(rows, prefix);

    std::string codec;
    if (def.codec == "schemaOrBool") codec = "kSchemaOrBool";
    if (def.codec == "schemaOrArray") codec = "kSchemaOrArray";
    if (def.codec == "schemaOrStringArray") codec = "kSchemaOrStringArray";
    global_ += "constinit const ::cox::Type " + def.name + "::kType = {.name = \"" +
               package_.version + "." + def.name + "\", .shape = Shape::kStruct";
    if (!codec.empty()) global_ += ", .codec = Codec::" + codec;
    if (def.atomic) global_ += ", .atomic = true";
    if (def.type_meta) global_ += ", .type_meta = true";
    if (!rows.empty()) global_ += ", .fields = " + prefix + "Fields";
    global_ += wire + index + ", .struct_ops = &Items<" + def.name + ">::kOps};\n";
    global_ += "bool " + def.name + "::operator==(const " + def.name +
               "& other) const { return DeepEqual(kType, this, &other); }\n";
    const std::string full = Namespace(package_.Path()) + "::" + def.name;
    instances_ += "template struct Items<" + full + ">;\n";
    if (maps_.contains(full)) instances_ += "template struct Items<Map<" + full + ">::Entry>;\n";
  }

  void EmitFields(const std::vector<Row>& rows, const std::string& prefix) {
    local_ += "constinit const Field " + prefix + "Fields[] = {\n";
    for (const Row& row : rows) {
      const FieldDef& field = *row.field;
      local_ += "    {.name = " + Quoted(field.name) + ", .type = " + row.type +
                ", .offset = " + row.offset;
      if (!row.flattened) local_ += ", .number = " + std::to_string(field.number);
      local_ += ", .flags = " + Flags(row);
      if (!field.merge_key.empty()) local_ += ", .merge_key = " + Quoted(field.merge_key);
      if (!field.default_json.empty()) local_ += ", .default_json = " + Quoted(field.default_json);
      local_ += "},\n";
    }
    local_ += "};\n";
  }

  void EmitNumbers(const std::string& name, const std::vector<size_t>& numbers) {
    local_ += "constexpr uint16_t " + name + "[] = {";
    for (size_t number : numbers) local_ += std::to_string(number) + ", ";
    local_ += "};\n";
  }

  // The rows in the order of protobuf numbers, and an index by number.
  std::string EmitWire(const std::vector<Row>& rows, const std::string& prefix) {
    std::vector<size_t> order;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].flattened && rows[i].field->number > 0) order.push_back(i);
    }
    if (order.empty()) return "";
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return rows[a].field->number < rows[b].field->number; });
    std::vector<size_t> by_number(static_cast<size_t>(rows[order.back()].field->number) + 1,
                                  NameIndex::kNone);
    for (size_t row : order) by_number[static_cast<size_t>(rows[row].field->number)] = row;
    EmitNumbers(prefix + "Wire", order);
    EmitNumbers(prefix + "ByNumber", by_number);
    return ", .wire = " + prefix + "Wire, .by_number = " + prefix + "ByNumber";
  }

  // The rows in JSON, in the order of their names.
  std::string EmitOrder(const std::vector<Row>& rows, const std::string& prefix) {
    std::vector<size_t> order;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!rows[i].field->inlined) order.push_back(i);
    }
    if (order.empty()) return "";
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return rows[a].field->name < rows[b].field->name; });
    EmitNumbers(prefix + "ByName", order);
    return ", .by_name = " + prefix + "ByName";
  }

  // The perfect hash of JSON names. Inlined rows are not in JSON; their name matches no key.
  std::string EmitNames(const std::vector<Row>& rows, const std::string& prefix) {
    std::vector<std::string> names;
    for (const Row& row : rows)
      names.push_back(row.field->inlined ? "\x01" + row.field->name : row.field->name);
    std::vector<std::string_view> views(names.begin(), names.end());
    NameIndexParts parts = BuildNameIndex(views);
    if (parts.slots.empty()) return "";
    if (!parts.perfect) {
      std::fprintf(stderr, "gen: no perfect hash for the fields of %s\n", prefix.c_str());
      std::exit(1);
    }
    local_ += "constexpr uint16_t " + prefix + "Slots[] = {";
    for (uint16_t slot : parts.slots) local_ += std::to_string(slot) + ", ";
    local_ += "};\n";
    return ", .names = {.seed = " + std::to_string(parts.seed) +
           ", .mask = " + std::to_string(parts.mask) + ", .slots = " + prefix + "Slots}";
  }

  void EmitKind(const KindDef& kind) {
    std::string subresources = "{}";
    if (!kind.subresources.empty()) {
      std::string rows;
      for (const SubresourceDef& sub : kind.subresources) {
        rows += "    {.name = " + Quoted(sub.name) + ", .group = " + Quoted(sub.group) +
                ", .version = " + Quoted(sub.version) + ", .kind = " + Quoted(sub.kind) +
                ", .verbs = " + Strings(sub.verbs) + "},\n";
      }
      subresources = "k" + kind.name + "Subresources";
      local_ += "constexpr SubresourceInfo " + subresources + "[] = {\n" + rows + "};\n";
    }
    std::string short_names = Strings(kind.short_names);
    std::string categories = Strings(kind.categories);
    std::string verbs = Strings(kind.verbs);
    global_ += "constinit const ::cox::KindInfo " + kind.name +
               "::kKind = {.group = " + Quoted(package_.group) +
               ", .version = " + Quoted(package_.version) + ", .kind = " + Quoted(kind.name) +
               ", .type = &" + kind.name + "::kType, .plural = " + Quoted(kind.plural) +
               ", .singular = " + Quoted(kind.singular) + ", .short_names = " + short_names +
               ", .categories = " + categories +
               ", .namespaced = " + (kind.namespaced ? "true" : "false") + ", .verbs = " + verbs +
               ", .subresources = " + subresources + "};\n";
  }

  const Model& model_;
  const Package& package_;
  const std::set<std::string> maps_;  // structs that are values of a map, in any package
  std::string local_;                 // in the unnamed namespace
  std::string global_;                // definitions for the header
  std::string instances_;             // explicit template instantiations
  int counter_ = 0;
};

}  // namespace

std::string EmitTables(const Model& model, const Package& package) {
  return TableEmitter(model, package).Run();
}

std::string EmitKinds(const Model& model) {
  std::string includes;
  std::string rows;
  for (const auto& [path, package] : model.packages) {
    if (package.messages) continue;
    includes += "#include \"api/" + path + ".h\"\n";
    for (const KindDef& kind : package.kinds)
      rows += "    &" + Namespace(path) + "::" + kind.name + "::kKind,\n";
  }
  std::string versions;
  std::string groups;
  for (size_t i = 0; i < model.served.size(); ++i) {
    versions += "constexpr std::string_view kVersions" + std::to_string(i) + "[] = {";
    for (const std::string& version : model.served[i].versions) versions += Quoted(version) + ", ";
    versions += "};\n";
    groups += "    {.group = " + Quoted(model.served[i].group) + ", .versions = kVersions" +
              std::to_string(i) + "},\n";
  }
  return "// Made by tools/gen.\n#include \"object/type/kind.h\"\n\n" + includes +
         "\nnamespace cox {\nnamespace {\n\n" + "constinit const KindInfo* const kKinds[] = {\n" +
         rows + "};\n\n" + versions + "constexpr GroupInfo kGroups[] = {\n" + groups +
         "};\n\n}  // namespace\n\n" +
         "std::span<const KindInfo* const> AllKinds() { return kKinds; }\n" +
         "std::span<const GroupInfo> ServedGroups() { return kGroups; }\n\n}  // namespace cox\n";
}

// The text as a C++ literal. It keeps its escapes, and only its quotes need to be escaped.
static std::string Literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '?') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

std::string EmitDescriptions(const Descriptions& descriptions) {
  std::string out =
      "// Made by tools/gen.\n#include <algorithm>\n#include <string_view>\n\n#include "
      "\"object/type/kind.h\"\n\nnamespace cox {\n";
  if (descriptions.empty()) {
    return out +
           "\nstd::string_view Description(std::string_view) { return {}; }\n\n}  // namespace "
           "cox\n";
  }
  out +=
      "namespace {\n\nusing std::string_view_literals::operator\"\"sv;\n\n"
      "struct Row {\n  std::string_view key, text;\n};\nconstexpr Row kRows[] = {\n";
  // The suffix: without it, a compiler counts characters, and clang stops counting after a million.
  for (const auto& [key, text] : descriptions) {
    out += "    {" + Quoted(key) + "sv, " + Literal(text) + "sv},\n";
  }
  return out +
         "};\n\n}  // namespace\n\nstd::string_view Description(std::string_view key) {\n"
         "  auto at = std::lower_bound(std::begin(kRows), std::end(kRows), key, [](const Row& r, "
         "std::string_view k) { return r.key < k; });\n"
         "  return at != std::end(kRows) && at->key == key ? at->text : "
         "std::string_view();\n}\n\n}  // namespace cox\n";
}

}  // namespace cox::gen
