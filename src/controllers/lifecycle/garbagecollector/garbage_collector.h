// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/garbagecollector/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Deletes objects whose owners are all gone, and processes foreground and orphan deletions. Watches
// every served kind.
//
//   discovery ─▶ monitors ─▶ graph ─▶ queues ─▶ collector ─▶ API
//
// REQUIRES: the manager's cache covers all namespaces.
Status AddGarbageCollector(Manager& manager, const GarbageCollectorOptions& options);

}  // namespace cox::controllers
