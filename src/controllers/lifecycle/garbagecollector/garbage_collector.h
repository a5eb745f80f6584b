// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "controllers/lifecycle/garbagecollector/options.h"
#include "coxswain/manager.h"

namespace cox::controllers {

// Deletes what has lost all its owners, and does what deletions in the foreground and with orphans
// ask for. Watches every kind that is served.
//
//   discovery ─▶ monitors ─▶ graph ─▶ queues ─▶ collector ─▶ API
//
// REQUIRES: the manager's cache is of the whole cluster.
Status AddGarbageCollector(Manager& manager, const GarbageCollectorOptions& options);

}  // namespace cox::controllers
