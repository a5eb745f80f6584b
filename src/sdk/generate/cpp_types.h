// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "object/value.h"

namespace cox::sdk {

// A header and its source, which describe the kinds of one version (coxswain/custom_resource.h).
struct CppTypes {
  std::string version;  // "v1"
  std::string header;
  std::string source;
};

struct CppTypesOptions {
  std::string ns = "api";    // the C++ namespace; the version is one inside of it
  std::string header_name;   // as the source includes it; empty: "<singular>_<version>.h"
  std::string only_version;  // empty: all that are served
};

// C++ structs for what a CustomResourceDefinition (apiextensions.k8s.io/v1) says, one pair of files
// for each version.
//
// Objects with properties become structs, named by their path (BackupSpecTarget); optional scalars
// std::optional, optional structs Box; maps cox::Map; what is open (preserve-unknown-fields, no
// type) RawJson. Descriptions, defaults, limits, patterns, enums, list types and CEL rules are
// kept, so that CrdOf<>() gives the definition back.
//
// Errors: BadRequest for what is no such definition, or a schema that cannot be a struct, naming
//   the path.
Result<std::vector<CppTypes>> CppTypesFromCrd(const Value& definition,
                                              const CppTypesOptions& options);

}  // namespace cox::sdk
