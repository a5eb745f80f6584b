// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "api/cri/v1.h"

// Selects the registry credentials for an image. Pure.
namespace cox::kubelet {

// A normalized image name: "docker.io/library/nginx" for "nginx".
struct ImageName {
  std::string registry;    // "docker.io", "localhost:5000"
  std::string repository;  // "library/nginx"
  bool tagged = false;     // it has a tag or a digest
};
ImageName ParseImageName(std::string_view image);

// Appends ":latest" if the image has no tag or digest.
std::string WithDefaultTag(const std::string& image);

// A Secret, distinguished from later ones of the same name.
struct SecretReference {
  std::string uid;
  std::string ns;
  std::string name;
};

// A credential for a registry, and the Secret that contains it.
struct ImageCredential {
  cri::v1::AuthConfig auth;
  SecretReference secret;
  std::string hash;  // of the credential, not of the registry
};

// The credentials in the secrets (kubernetes.io/dockerconfigjson and kubernetes.io/dockercfg) that
// match the image, the most specific first. Invalid entries are skipped.
std::vector<ImageCredential> CredentialsFor(
    const std::string& image, const std::vector<std::shared_ptr<const core::v1::Secret>>& secrets);

}  // namespace cox::kubelet
