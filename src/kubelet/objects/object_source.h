// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox::kubelet {

// The config maps and secrets that Pods of this node name.
//
// Threads: all methods may be called concurrently.
// Errors: NotFound with the API's text; others when the API cannot be asked.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  virtual Result<std::shared_ptr<const core::v1::ConfigMap>> GetConfigMap(Context& ctx,
                                                                          const ObjectKey& key) = 0;
  virtual Result<std::shared_ptr<const core::v1::Secret>> GetSecret(Context& ctx,
                                                                    const ObjectKey& key) = 0;
};

}  // namespace cox::kubelet
