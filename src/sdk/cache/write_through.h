// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "coxswain/client.h"
#include "coxswain/informer.h"

namespace cox::sdk {

// Returns the informers of a resource: as structs, as JSON, as metadata.
using InformersOf = std::function<std::vector<std::shared_ptr<SharedInformer>>(const Resource&)>;

// A client that updates the informers with each write before it returns.
// Ownership: `inner` and everything that `informers` uses must outlive the client.
std::unique_ptr<Client> MakeWriteThrough(Client& inner, InformersOf informers);

}  // namespace cox::sdk
