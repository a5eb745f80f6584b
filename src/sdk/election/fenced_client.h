// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "base/context.h"
#include "coxswain/client.h"
#include "coxswain/fencing.h"

namespace cox::sdk {

// What a fenced client asks before each write, and tells when the server knows better.
// Threads: all methods may be called concurrently.
class Leadership {
 public:
  struct Hold {
    FencingToken token;
    Context until;  // stops when the term is over
  };
  virtual ~Leadership() = default;
  // None if this process does not lead, by the clock.
  virtual std::optional<Hold> Held() const = 0;
  // For who was refused.
  virtual std::string WhyNot() const = 0;
  // The server says that this term is over.
  virtual void Depose(const FencingToken& token, const Status& why) = 0;
};

// Both outlive the client.
std::unique_ptr<Client> MakeFencedClient(Leadership& leadership, Client& client);

}  // namespace cox::sdk
