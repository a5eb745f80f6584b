// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "coxswain/client.h"
#include "net/client.h"
#include "sdk/client/response/list_decoder.h"

namespace cox::sdk {

// Decodes the events of a watch response, in the format given by its Content-Type.
std::unique_ptr<WatchStream> MakeWatchStream(std::unique_ptr<net::ClientStream> stream,
                                             ObjectForm form);

}  // namespace cox::sdk
