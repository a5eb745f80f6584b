// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/registry/served/registry.h"
#include "base/clock.h"

namespace cox::apiserver {

// Bootstrap tokens "<id>.<secret>", from the Secrets bootstrap-token-<id> in kube-system in the
// server's cache. The user is system:bootstrap:<id>, in group system:bootstrappers and in the
// groups that the Secret adds.
//
// A token does not authenticate if its Secret is being deleted, has expired, is not enabled for
// authentication, or is invalid. `registry` and `clock` must outlive the method.
std::unique_ptr<const AuthMethod> NewBootstrapTokenMethod(const Registry& registry,
                                                          const Clock& clock);

}  // namespace cox::apiserver
