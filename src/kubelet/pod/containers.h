// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/core/containers.h"
#include "object/core/pod_state.h"

// Helpers for the containers of a Pod, shared by several parts of the kubelet.
//
// Pure functions; their results point into their arguments.
namespace cox::kubelet {

enum class ContainerKind : uint8_t {
  kInit,     // runs to completion before the next
  kSidecar,  // an init container with restartPolicy Always: started in order, keeps running
  kMain,
  kEphemeral,  // added while the Pod runs, never restarted
};

using core_rules::AsContainer;
using core_rules::IsSidecar;
using core_rules::IsTerminal;

// Init containers in their order, then the main ones, then ephemeral ones.
void ForEachContainer(const core::v1::Pod& pod,
                      const std::function<void(const core::v1::Container&, ContainerKind)>& visit);

// Null if there is no container of that name. Does not search ephemeral containers.
const core::v1::Container* FindContainer(const core::v1::Pod& pod, std::string_view name);

// The container's status in the API; null if there is none.
const core::v1::ContainerStatus* FindStatus(const core::v1::Pod& pod, std::string_view name);

// The hash of the spec that a container was created from. If it changes, the container is
// recreated. Only name and image are hashed: besides resources, which are resized in place, the API
// permits no other changes.
uint64_t SpecHash(const core::v1::Container& container);

// The port of a probe or hook: a number, or the name of a container port. 0 if there is no such
// port.
uint16_t ResolvePort(const IntOrString& port, const core::v1::Container& container);

}  // namespace cox::kubelet
