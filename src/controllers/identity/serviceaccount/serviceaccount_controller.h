// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/identity/serviceaccount/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps a ServiceAccount `default` in every namespace that is not being deleted. Pods that name no
// ServiceAccount use it.
Status AddServiceAccountController(Manager& manager, const ServiceAccountOptions& options);

}  // namespace cox::controllers
