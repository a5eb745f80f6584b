// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/type/kind.h"

namespace cox::controllers::pods {

// Creates a Pod from the template for the object of `kind` with metadata `owner`: in its namespace,
// with generateName, and with a controller reference.
core::v1::Pod PodFromTemplate(const core::v1::PodTemplateSpec& spec, const KindInfo& kind,
                              const meta::v1::ObjectMeta& owner);

}  // namespace cox::controllers::pods
