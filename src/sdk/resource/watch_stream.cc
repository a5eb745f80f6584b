// SPDX-License-Identifier: Apache-2.0
#include "coxswain/client.h"

// Here and not beside the client, because tests with a fake client link no other part of the SDK.
namespace cox {

Result<std::optional<WatchEvent<Object>>> WatchStream::TryNext(const std::function<void()>&) {
  return Status(Reason::kMethodNotAllowed, "the watch cannot be read without blocking");
}

}  // namespace cox
