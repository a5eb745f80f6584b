// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/result.h"
#include "net/http.h"
#include "net/server.h"

// The pause image is embedded in this program, so that the first Pod needs no registry: a registry
// in this process serves it to the runtime on the loopback interface.
namespace cox::cmd {

// The registry name in the image reference. It is never resolved.
inline constexpr std::string_view kPauseRegistry = "registry.coxswain.local";

// An OCI image of one static program: manifest, configuration, one layer.
class PauseImage {
 public:
  PauseImage();

  // "registry.coxswain.local/pause:0123456789ab": the tag changes with the program.
  const std::string& reference() const { return reference_; }
  // Answers a request of the OCI distribution API (pull only).
  net::Response Answer(std::string_view method, std::string_view path) const;

 private:
  struct Blob {
    std::string_view type;
    std::string bytes;
  };
  std::string Add(std::string_view type, std::string bytes);  // returns its digest

  std::map<std::string, Blob, std::less<>> blobs_;  // by digest
  std::string manifest_;                            // its digest
  std::string tag_;
  std::string reference_;
};

// Serves the image on a free loopback port until the result is destroyed.
Result<std::unique_ptr<net::Server>> ServePauseImage(const Context& ctx,
                                                     std::shared_ptr<const PauseImage> image);

}  // namespace cox::cmd
