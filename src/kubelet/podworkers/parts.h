// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "coxswain/client.h"
#include "coxswain/event_recorder.h"
#include "kubelet/containers/killer.h"
#include "kubelet/images/puller.h"
#include "kubelet/objects/watched_objects.h"
#include "kubelet/options/options.h"
#include "kubelet/pleg/pleg.h"
#include "kubelet/probes/manager.h"
#include "kubelet/resources/cgroup_tree.h"
#include "kubelet/status/manager.h"
#include "kubelet/volumes/manager.h"
#include "runtime/runtime.h"

namespace cox::kubelet {

// The components that Pod workers use. They outlive the workers and are thread-safe.
struct SyncParts {
  const Options& options;
  Client& client;
  runtime::Runtime& runtime;
  EventRecorder& events;
  Pleg& pleg;
  StatusManager& status;
  WatchedObjects& objects;
  VolumeManager& volumes;
  Prober& prober;
  ProbeManager& probes;
  ImagePuller& images;
  ContainerKiller& killer;
  CgroupTree& cgroups;
  std::function<std::vector<std::shared_ptr<const core::v1::Service>>(const std::string& ns)>
      services;
  std::function<std::shared_ptr<const core::v1::Node>()> node;
  // Requeues the Pod.
  std::function<void(const std::string& uid)> wake;
};

}  // namespace cox::kubelet
