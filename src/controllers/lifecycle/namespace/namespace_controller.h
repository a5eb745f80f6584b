// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/namespace/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Finalizes namespaces that are being deleted: deletes their content (content.h), reports the
// remaining objects in the conditions (remains.h), and removes the finalizer `kubernetes` when the
// namespace is empty.
Status AddNamespaceController(Manager& manager, const NamespaceOptions& options);

}  // namespace cox::controllers
