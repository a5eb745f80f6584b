// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "coxswain/object_key.h"

namespace cox::kubelet {

// Reads the config maps and secrets that Pods of this node reference.
//
// Threads: all methods may be called concurrently.
// Errors: NotFound with the API's text; other errors if the API server cannot be read.
class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  virtual Result<std::shared_ptr<const core::v1::ConfigMap>> GetConfigMap(Context& ctx,
                                                                          const ObjectKey& key) = 0;
  virtual Result<std::shared_ptr<const core::v1::Secret>> GetSecret(Context& ctx,
                                                                    const ObjectKey& key) = 0;
};

}  // namespace cox::kubelet
