// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "object/type/value.h"

namespace cox::sdk {

// A header and its source, which describe the kinds of one version (coxswain/custom_resource.h).
struct CppTypes {
  std::string stem;    // "backup_v1", of the files: the source includes "backup_v1.h"
  std::string header;  // the text of <stem>.h
  std::string source;  // and of <stem>.cc
};

struct CppTypesOptions {
  std::string ns = "api";  // the C++ namespace; the version is one inside of it
};

// C++ structs for what a CustomResourceDefinition (apiextensions.k8s.io/v1) says, one pair of files
// for each version that is served.
//
// Objects with properties become structs, named by their path (BackupSpecTarget); optional scalars
// std::optional, optional structs Box, but plain members of the kind itself (spec, status); maps
// cox::Map; what is open (preserve-unknown-fields, embedded resources, no properties, no type)
// RawJson. No field that the server keeps is lost on the way through them.
//
// CrdOf<>() gives back the names, subresources, columns and deprecation of a version, and of fields
// the type, description, default, format, pattern, limits, enum of strings, list type, and CEL
// rules with their messages. It writes out what C++ implies: a plain integer is int64, a list
// without a type atomic. Not kept: what a schema says of items and values that are no fields (the
// pattern of a list's strings), what it says of the root besides its description, what schemas are
// combined of (anyOf, not), rarer words (nullable, multipleOf, maxProperties), formats of columns,
// selectable fields, conversion.
//
// Errors: BadRequest for what is no such definition, names that C++ or a file cannot have, or a
//   schema that cannot be a struct, naming the path. A stem is a plain file name whatever the
//   definition says.
Result<std::vector<CppTypes>> CppTypesFromCrd(const Value& definition,
                                              const CppTypesOptions& options);

}  // namespace cox::sdk
