// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "coxswain/controller.h"
#include "coxswain/informer.h"

namespace cox::sdk {

// Calls `add` with each key that a change affects; keys may repeat.
using KeysOf = std::function<void(const Delta&, const std::function<void(ObjectKey)>& add)>;

// The object's own key.
KeysOf OwnKey();
// The object's controlling owner if it has `owner`'s group and kind, in any version. For updates
// both states count, so that a former owner is reconciled, too.
KeysOf OwnerKey(const Resource& owner);
// The keys that `map` returns, for both states of an update.
KeysOf MappedKeys(MapFunction map);

}  // namespace cox::sdk
