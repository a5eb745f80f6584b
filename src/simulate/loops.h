// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "coxswain/manager.h"
#include "simulate/options.h"

// The two loops of simulate.h; each is a controller of the manager.
namespace cox::simulate {

Status AddNodeLoop(Manager& manager, const Options& options);
Status AddPodLoop(Manager& manager, const Options& options);

}  // namespace cox::simulate
