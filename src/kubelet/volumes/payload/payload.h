// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/core/v1.h"
#include "base/context.h"
#include "base/result.h"
#include "kubelet/environment/fields.h"
#include "kubelet/objects/object_source.h"
#include "kubelet/volumes/files/atomic_writer.h"
#include "kubelet/volumes/payload/tokens.h"

// The files of configMap, secret, downwardAPI and projected volumes.
namespace cox::kubelet {

struct PayloadSources {
  ObjectSource& objects;
  TokenSource& tokens;
  PodFacts facts;
};

struct VolumePayload {
  Payload files;
  // When a token has to be replaced; none if there is no token.
  std::optional<Clock::WallTime> refresh;
};

// REQUIRES: a configMap, secret, downwardAPI or projected volume.
// Errors: NotFound for a missing object that is not optional; BadRequest "references non-existent
//   config key: k".
Result<VolumePayload> CollectPayload(Context& ctx, const core::v1::Pod& pod,
                                     const core::v1::VolumeSource& volume,
                                     const PayloadSources& sources);

}  // namespace cox::kubelet
