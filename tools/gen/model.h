// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

// The contents of the api/*.api files.
namespace cox::gen {

// `*T`, `[]T`, `map[K]T` or a name.
struct TypeRef {
  bool pointer = false;
  enum Container { kPlain, kList, kMap } container = kPlain;
  std::string package;  // "core/v1"; empty for builtin types
  std::string name;     // the type, or the type of the list's items or the map's values
};

struct FieldDef {
  std::string name;  // the JSON name
  int number = 0;
  TypeRef type;
  bool omit_empty = false, omit_zero = false, required = false, inlined = false;
  bool atomic = false, granular = false;
  std::string default_json;
  std::string list_type;          // "", "atomic", "set", "map"
  std::vector<std::string> keys;  // if list_type is "map"
  std::vector<std::string> patch_strategies;
  std::string merge_key;
};

struct StructDef {
  std::string name;
  bool type_meta = false, atomic = false;
  std::string codec;
  std::vector<FieldDef> fields;
};

struct EnumDef {
  std::string name;
  bool closed = false;                                      // OpenAPI lists the values as its enum
  bool number = false;                                      // int32 on the wire, not a string
  std::vector<std::pair<std::string, std::string>> values;  // constant, text or number
};

struct ListDef {  // a named slice
  std::string name;
  std::string element;
};

struct AliasDef {  // a name in this package for a struct of another package
  std::string name;
  TypeRef target;
};

struct SubresourceDef {
  std::string name, group, version, kind;
  std::vector<std::string> verbs;
};

struct KindDef {
  std::string name, plural, singular;
  std::vector<std::string> short_names, categories, verbs;
  bool namespaced = false;
  std::vector<SubresourceDef> subresources;
};

// One file: a group version.
struct Package {
  std::string dir, version;  // "core", "v1": the path of the file
  std::string group;         // "" for core
  bool messages = false;     // messages of a gRPC service: in no group and in no list of types
  std::vector<KindDef> kinds;
  std::vector<EnumDef> enums;
  std::vector<ListDef> lists;
  std::vector<AliasDef> aliases;
  std::vector<StructDef> structs;

  std::string Path() const { return dir + "/" + version; }
  const StructDef* FindStruct(const std::string& name) const;
  const EnumDef* FindEnum(const std::string& name) const;
  const ListDef* FindList(const std::string& name) const;
};

struct GroupDef {
  std::string group;
  std::vector<std::string> versions;
};

struct Model {
  std::map<std::string, Package> packages;  // by Path()
  std::vector<GroupDef> served;

  const Package* Find(const std::string& path) const;
};

// Reads every file below `api_dir`. Invalid input ends the program with a message that contains
// file and line, because code generated from an incomplete API would be wrong.
Model ReadModel(const std::string& api_dir);

}  // namespace cox::gen
