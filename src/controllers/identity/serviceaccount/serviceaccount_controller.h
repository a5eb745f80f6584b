// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/identity/serviceaccount/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Keeps an account `default` in every namespace that is not being deleted: the one that Pods run
// under unless they name another.
Status AddServiceAccountController(Manager& manager, const ServiceAccountOptions& options);

}  // namespace cox::controllers
