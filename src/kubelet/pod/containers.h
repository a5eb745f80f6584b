// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "object/core/containers.h"
#include "object/core/pod_state.h"

// Questions about the containers of a Pod that several parts of the kubelet ask.
//
// Pure functions; they borrow what they are given.
namespace cox::kubelet {

enum class ContainerKind : uint8_t {
  kInit,     // runs to its end before the next
  kSidecar,  // an init container with restartPolicy Always: started in their order, goes on
  kMain,
  kEphemeral,  // added while the Pod runs, never restarted
};

using core_rules::AsContainer;
using core_rules::IsSidecar;
using core_rules::IsTerminal;

// Init containers in their order, then the main ones, then ephemeral ones.
void ForEachContainer(const core::v1::Pod& pod,
                      const std::function<void(const core::v1::Container&, ContainerKind)>& visit);

// Null if there is none of that name. Ephemeral ones are not looked at.
const core::v1::Container* FindContainer(const core::v1::Pod& pod, std::string_view name);

// What the API says about it so far; null if nothing.
const core::v1::ContainerStatus* FindStatus(const core::v1::Pod& pod, std::string_view name);

// Which spec a container was made from. A change of it means: make it anew. Only the name and the
// image count, as those (besides resources, which are changed in place) are all that the API lets
// change.
uint64_t SpecHash(const core::v1::Container& container);

// The port that a probe or hook means: a number, or the name of a port of the container.
// 0 if there is none.
uint16_t ResolvePort(const IntOrString& port, const core::v1::Container& container);

}  // namespace cox::kubelet
