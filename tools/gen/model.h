// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

// What the api/*.api files say, as read.
namespace cox::gen {

// `*T`, `[]T`, `map[K]T` or a name.
struct TypeRef {
  bool pointer = false;
  enum Container { kPlain, kList, kMap } container = kPlain;
  std::string package;  // "core/v1"; empty for builtin types
  std::string name;     // of the type, the list's item or the map's value
};

struct FieldDef {
  std::string name;  // in JSON
  int number = 0;
  TypeRef type;
  bool omit_empty = false, omit_zero = false, required = false, inlined = false;
  bool atomic = false, granular = false;
  std::string default_json;
  std::string list_type;          // "", "atomic", "set", "map"
  std::vector<std::string> keys;  // of a list map
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
  bool closed = false;                                      // no other values than these
  bool number = false;                                      // int32 on the wire, not a string
  std::vector<std::pair<std::string, std::string>> values;  // constant, text or number
};

struct ListDef {  // a named slice
  std::string name;
  std::string element;
};

struct AliasDef {  // a struct of another package under a name of this one
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
  std::string dir, version;  // "core", "v1": the file's place
  std::string group;         // "" for core
  bool messages = false;     // of a gRPC service: in no group, known to nothing that lists types
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

// Reads every file below `api_dir`. Ends the program with a message that names file and line on
// what it does not understand: a half-read API is worse than no build.
Model ReadModel(const std::string& api_dir);

}  // namespace cox::gen
