// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace cox {

// A reason without a name ("" like kUnknown) but with its own code: for forwarded responses, such
// as a webhook's 418. Codes outside of 400 to 599 become 500.
//
// It is equal only to itself and to none of the enumerators.
Reason NamelessReason(int code);

}  // namespace cox
