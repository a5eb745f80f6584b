// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "coxswain/client.h"
#include "coxswain/informer.h"

namespace cox::sdk {

// The informers that hold objects of a resource: as structs, as JSON, as metadata.
using InformersOf = std::function<std::vector<std::shared_ptr<SharedInformer>>(const Resource&)>;

// A client that tells the informers what it has written before it returns.
// Ownership: `inner` and what `informers` uses outlive it.
std::unique_ptr<Client> MakeWriteThrough(Client& inner, InformersOf informers);

}  // namespace cox::sdk
