// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/cri/v1.h"

// By what credentials an image may be pulled. Pure.
namespace cox::kubelet {

// An image's name as registries have it: "docker.io/library/nginx" for "nginx".
struct ImageName {
  std::string registry;    // "docker.io", "localhost:5000"
  std::string repository;  // "library/nginx"
  bool tagged = false;     // it has a tag or a digest
};
ImageName ParseImageName(std::string_view image);

// As it is asked for: "nginx" means "nginx:latest".
std::string WithDefaultTag(const std::string& image);

// Those of the secrets (kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg) whose place
// holds the image, the most exact first. What cannot be read is left out.
List<cri::v1::AuthConfig> CredentialsFor(
    const std::string& image, const std::vector<std::shared_ptr<const core::v1::Secret>>& secrets);

}  // namespace cox::kubelet
