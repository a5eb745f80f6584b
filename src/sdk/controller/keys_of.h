// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "coxswain/controller.h"
#include "coxswain/informer.h"

namespace cox::sdk {

// Which keys of a controller a change concerns; calls `add` with each, some perhaps twice.
using KeysOf = std::function<void(const Delta&, const std::function<void(ObjectKey)>& add)>;

// The object's own key.
KeysOf OwnKey();
// The object's controlling owner, if it is of `owner`'s group and kind, in whatever version. Of an
// update both states count: who lost the object has to look too.
KeysOf OwnerKey(const Resource& owner);
// What `map` says, of both states of an update.
KeysOf MappedKeys(MapFunction map);

}  // namespace cox::sdk
