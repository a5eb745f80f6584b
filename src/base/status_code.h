// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace cox {

// A reason that has no name ("" as kUnknown has) but a code of its own: for answers that somebody
// else chose and we pass on, such as a webhook's 418. Codes outside of 400 to 599 become 500.
//
// It compares equal to itself alone and is none of the enumerators.
Reason NamelessReason(int code);

}  // namespace cox
