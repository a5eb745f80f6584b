// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "coxswain/client.h"
#include "net/client.h"
#include "sdk/client/answer/list_decoder.h"

namespace cox::sdk {

// The events in the answer to a watch request, in whichever form its Content-Type says.
std::unique_ptr<WatchStream> MakeWatchStream(std::unique_ptr<net::ClientStream> stream,
                                             ObjectForm form);

}  // namespace cox::sdk
