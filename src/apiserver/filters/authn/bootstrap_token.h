// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "apiserver/filters/authn/authenticator/authenticator.h"
#include "apiserver/registry/served/registry.h"
#include "base/clock.h"

namespace cox::apiserver {

// Tokens by which machines join a cluster: "<id>.<secret>" of Secrets bootstrap-token-<id> in
// kube-system, read from the server's cache. The user is system:bootstrap:<id>, in group
// system:bootstrappers and those the Secret adds.
//
// A Secret that is being deleted, has expired, is not for authentication, or is wrong in any part
// makes its token nobody's. `registry` and `clock` outlive the method.
std::unique_ptr<const AuthMethod> NewBootstrapTokenMethod(const Registry& registry,
                                                          const Clock& clock);

}  // namespace cox::apiserver
