// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace cox::net {

// A mark on the Unavailable of a request that certainly nobody has looked at: no connection could
// be made, or the server said that it will not. Who sends such a request again cannot do it twice.
//
// The mark is a cause in the details, so it stays through WithContext and copies.
Status MarkNotSent(const Status& status);
bool NotSent(const Status& status);

}  // namespace cox::net
