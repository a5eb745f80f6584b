// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/context.h"
#include "coxswain/client.h"
#include "coxswain/fencing.h"

namespace cox::sdk {

// The interface through which a fenced client checks leadership before each write, and reports
// rejections by the server.
// Threads: all methods may be called concurrently.
class Leadership {
 public:
  struct Hold {
    FencingToken token;
    Context until;  // stops when the term ends
  };
  virtual ~Leadership() = default;
  // No value if this process does not lead, checked by the clock.
  virtual std::optional<Hold> Held() const = 0;
  // The message for rejected writes.
  virtual std::string WhyNot() const = 0;
  // Ends the term, because the server rejected a write of it.
  virtual void Depose(const FencingToken& token, const Status& why) = 0;
};

// Lifetime: both must outlive the client.
std::unique_ptr<Client> MakeFencedClient(Leadership& leadership, Client& client);

}  // namespace cox::sdk
