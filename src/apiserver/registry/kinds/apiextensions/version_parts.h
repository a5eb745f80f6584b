// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apiextensions/v1.h"
#include "object/validation/field_error.h"

// The parts of a definition that each version has: schema, subresources, columns, selectable
// fields.
//
// The hub form keeps a part once, at the top of the spec, where all versions agree on it. Errors
// speak of the hub form, so they must know which parts those are.
namespace cox::apiserver {

struct CommonParts {
  bool schema = false;
  bool subresources = false;
  bool columns = false;
  bool selectable_fields = false;
};
CommonParts FindCommonParts(
    const List<apiextensions::v1::CustomResourceDefinitionVersion>& versions);

// The parts of `version`, at `path`, which are not common.
FieldErrorList ValidateVersionParts(
    const apiextensions::v1::CustomResourceDefinitionVersion& version, const CommonParts& common,
    const FieldPath& path);
// Those which are, below `spec`.
FieldErrorList ValidateCommonParts(
    const List<apiextensions::v1::CustomResourceDefinitionVersion>& versions,
    const CommonParts& common, const FieldPath& spec);

// The versions as errors quote them: in the hub form, without the common parts.
FieldValue InternalVersions(List<apiextensions::v1::CustomResourceDefinitionVersion> versions,
                            const CommonParts& common);

}  // namespace cox::apiserver
