// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/namespace/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Ends namespaces: deletes what is in one that is being deleted (content.h), says in its conditions
// what is left (remains.h), and takes `kubernetes` off its finalizers when nothing is.
Status AddNamespaceController(Manager& manager, const NamespaceOptions& options);

}  // namespace cox::controllers
