// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "object/type/value.h"

namespace cox::sdk {

// A header and its source that describe the kinds of one version (coxswain/custom_resource.h).
struct CppTypes {
  std::string stem;    // "backup_v1": the file name; the source includes "backup_v1.h"
  std::string header;  // the text of <stem>.h
  std::string source;  // the text of <stem>.cc
};

struct CppTypesOptions {
  std::string ns = "api";  // the C++ namespace; the version is a nested namespace
};

// Generates C++ structs from a CustomResourceDefinition (apiextensions.k8s.io/v1), one pair of
// files per served version.
//
// Objects with properties become structs named by their path (BackupSpecTarget); optional scalars
// become std::optional, optional structs Box (except plain members of the kind itself, such as spec
// and status), maps cox::Map, and open schemas (preserve-unknown-fields, embedded resources, no
// properties, no type) RawJson. All fields that the server stores are preserved by the structs.
//
// CrdOf<>() reproduces the names, subresources, columns and deprecation of a version, and for
// fields the type, description, default, format, pattern, limits, enum of strings, list type, and
// CEL rules with their messages. It adds what C++ implies: a plain integer is int64, a list without
// a type is atomic. Not preserved: constraints of items and map values (the pattern of a list's
// strings), constraints of the root except its description, combined schemas (anyOf, not), rarely
// used keywords (nullable, multipleOf, maxProperties), formats of columns, selectable fields,
// conversion.
//
// Errors: BadRequest, with the path, for a document that is not such a definition, for names that
//   are invalid in C++ or as file names, and for a schema that cannot be a struct. The stem is
//   always a plain file name.
Result<std::vector<CppTypes>> CppTypesFromCrd(const Value& definition,
                                              const CppTypesOptions& options);

}  // namespace cox::sdk
