// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kubelet/volumes/payload/tokens.h"

namespace cox::kubelet::testing {

// Tokens that contain the parameters of their request.
class FakeTokens final : public TokenSource {
 public:
  Result<Token> Get(Context&, const core::v1::Pod& pod, const std::string& audience,
                    int64_t seconds) override {
    return Token{pod.metadata.uid + "|" + audience + "|" + std::to_string(seconds) + suffix,
                 refresh};
  }
  void Forget(const std::string& uid) override { forgotten.push_back(uid); }

  std::string suffix;
  Clock::WallTime refresh{std::chrono::seconds(2'000'000'000)};
  std::vector<std::string> forgotten;
};

}  // namespace cox::kubelet::testing
