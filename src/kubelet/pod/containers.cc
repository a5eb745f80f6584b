// SPDX-License-Identifier: Apache-2.0
#include "kubelet/pod/containers.h"

#include <algorithm>

namespace cox::kubelet {

using core::v1::Container;
using core::v1::ContainerStatus;
using core::v1::Pod;

void ForEachContainer(const Pod& pod,
                      const std::function<void(const Container&, ContainerKind)>& visit) {
  for (const Container& init : pod.spec.initContainers) {
    visit(init, IsSidecar(init) ? ContainerKind::kSidecar : ContainerKind::kInit);
  }
  for (const Container& main : pod.spec.containers) visit(main, ContainerKind::kMain);
  for (const core::v1::EphemeralContainer& ephemeral : pod.spec.ephemeralContainers) {
    visit(AsContainer(ephemeral), ContainerKind::kEphemeral);
  }
}

const Container* FindContainer(const Pod& pod, std::string_view name) {
  for (const auto* list : {&pod.spec.containers, &pod.spec.initContainers}) {
    for (const Container& container : *list) {
      if (container.name == name) return &container;
    }
  }
  return nullptr;
}

const ContainerStatus* FindStatus(const Pod& pod, std::string_view name) {
  for (const auto* list : {&pod.status.containerStatuses, &pod.status.initContainerStatuses,
                           &pod.status.ephemeralContainerStatuses}) {
    for (const ContainerStatus& status : *list) {
      if (status.name == name) return &status;
    }
  }
  return nullptr;
}

uint64_t SpecHash(const Container& container) {
  // FNV-1a: the value is stored on containers and must be stable across versions and processes.
  uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::string_view text) {
    for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;  // a separator: "ab","c" differs from "a","bc"
  };
  mix(container.name);
  mix(container.image);
  return hash;
}

uint16_t ResolvePort(const IntOrString& port, const Container& container) {
  int64_t number = port.is_string() ? 0 : port.int_value();
  if (port.is_string()) {
    const auto named = std::find_if(
        container.ports.begin(), container.ports.end(),
        [&port](const core::v1::ContainerPort& p) { return p.name == port.string_value(); });
    number = named != container.ports.end() ? named->containerPort : port.IntValue();
  }
  return number > 0 && number < 65536 ? static_cast<uint16_t>(number) : 0;
}

}  // namespace cox::kubelet
