// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "api/apiextensions/v1.h"
#include "object/validation/field_error.h"

// The parts that each version of a definition has: schema, subresources, columns, selectable
// fields.
//
// Upstream's internal type has a part only once, at the top of the spec, if it is the same in all
// versions. Errors contain paths and values of the internal type, so they depend on which parts are
// common.
namespace cox::apiserver {

struct CommonParts {
  bool schema = false;
  bool subresources = false;
  bool columns = false;
  bool selectable_fields = false;
};
CommonParts FindCommonParts(
    const List<apiextensions::v1::CustomResourceDefinitionVersion>& versions);

// Validates the parts of `version`, at `path`, that are not common.
FieldErrorList ValidateVersionParts(
    const apiextensions::v1::CustomResourceDefinitionVersion& version, const CommonParts& common,
    const FieldPath& path);
// Validates the common parts, below `spec`.
FieldErrorList ValidateCommonParts(
    const List<apiextensions::v1::CustomResourceDefinitionVersion>& versions,
    const CommonParts& common, const FieldPath& spec);

// The versions as errors contain them: as in the internal type, without the common parts.
FieldValue InternalVersions(List<apiextensions::v1::CustomResourceDefinitionVersion> versions,
                            const CommonParts& common);

}  // namespace cox::apiserver
