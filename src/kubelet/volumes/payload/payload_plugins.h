// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubelet/objects/object_source.h"
#include "kubelet/volumes/files/mounter.h"
#include "kubelet/volumes/payload/tokens.h"
#include "kubelet/volumes/plugin/plugin.h"

namespace cox::kubelet {

// configMap, secret, downwardAPI and projected: volumes whose files the kubelet writes from API
// objects. All except configMaps are memory-backed, so that secrets are not written to a disk. The
// arguments outlive the plugins.
VolumePlugins NewPayloadPlugins(ObjectSource& objects, TokenSource& tokens, Mounter& mounter);

}  // namespace cox::kubelet
