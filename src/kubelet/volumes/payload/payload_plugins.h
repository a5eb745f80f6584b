// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/objects/object_source.h"
#include "kubelet/volumes/files/mounter.h"
#include "kubelet/volumes/payload/tokens.h"
#include "kubelet/volumes/plugin/plugin.h"

namespace cox::kubelet {

// configMap, secret, downwardAPI and projected: volumes whose files the kubelet writes from objects
// of the API. All but configMaps are in memory, so that secrets do not reach a disk. What the
// arguments refer to outlives the plugins.
VolumePlugins NewPayloadPlugins(ObjectSource& objects, TokenSource& tokens, Mounter& mounter);

}  // namespace cox::kubelet
