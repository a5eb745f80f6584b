// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace cox::net {

// Marks the Unavailable error of a request that the server certainly did not process: no connection
// could be opened, or the server refused the stream. Such a request can be retried safely.
//
// The mark is a cause in the details, so WithContext and copies keep it.
Status MarkNotSent(const Status& status);
bool NotSent(const Status& status);

}  // namespace cox::net
