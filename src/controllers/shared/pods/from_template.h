// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/core/v1.h"
#include "object/type/kind.h"

namespace cox::controllers::pods {

// A Pod as `spec` says, for the object of `kind` with `owner` as its metadata: in its namespace,
// named after it by the server, controlled by it.
core::v1::Pod PodFromTemplate(const core::v1::PodTemplateSpec& spec, const KindInfo& kind,
                              const meta::v1::ObjectMeta& owner);

}  // namespace cox::controllers::pods
