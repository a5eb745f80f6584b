// SPDX-License-Identifier: Apache-2.0
#include "kubelet/images/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cox::kubelet {
namespace {

using ::testing::ElementsAre;

TEST(CredentialsTest, ImageNames) {
  const struct {
    std::string image, registry, repository, tagged;
  } kCases[] = {
      {"nginx", "docker.io", "library/nginx", "nginx:latest"},
      {"nginx:1", "docker.io", "library/nginx", "nginx:1"},
      {"team/app", "docker.io", "team/app", "team/app:latest"},
      {"localhost:5000/app", "localhost:5000", "app", "localhost:5000/app:latest"},
      {"registry.example/a/b:v1", "registry.example", "a/b", "registry.example/a/b:v1"},
      {"index.docker.io/x", "docker.io", "library/x", "index.docker.io/x:latest"},
      {"e.x/a@sha256:00", "e.x", "a", "e.x/a@sha256:00"},
      {"e.x/a:v@sha256:00", "e.x", "a", "e.x/a:v@sha256:00"},
  };
  for (const auto& c : kCases) {
    const ImageName name = ParseImageName(c.image);
    EXPECT_EQ(name.registry, c.registry) << c.image;
    EXPECT_EQ(name.repository, c.repository) << c.image;
    EXPECT_EQ(WithDefaultTag(c.image), c.tagged);
  }
}

std::shared_ptr<const core::v1::Secret> Config(const std::string& json) {
  core::v1::Secret secret;
  secret.data[".dockerconfigjson"] = json;
  return std::make_shared<const core::v1::Secret>(std::move(secret));
}

std::vector<std::string> Users(const std::string& image, const std::string& json) {
  std::vector<std::string> users;
  for (const ImageCredential& credential : CredentialsFor(image, {Config(json)})) {
    users.push_back(credential.auth.username + ":" + credential.auth.password);
  }
  return users;
}

TEST(CredentialsTest, MatchingCredentialsMostSpecificFirst) {
  const std::string config = R"({"auths":{
      "https://index.docker.io/v1/":{"username":"hub","password":"p"},
      "*.example.com":{"username":"any","password":"p"},
      "r.example.com":{"auth":"aG9zdDphOmI="},
      "r.example.com/team":{"username":"team","password":"p"}}})";
  EXPECT_THAT(Users("nginx", config), ElementsAre("hub:p"));
  EXPECT_THAT(Users("r.example.com/team/app", config), ElementsAre("team:p", "host:a:b", "any:p"));
  EXPECT_THAT(Users("r.example.com/teammate", config), ElementsAre("host:a:b", "any:p"));
  EXPECT_THAT(Users("a.b.example.com/x", config), ::testing::IsEmpty());
  EXPECT_THAT(Users("nginx", "not json"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace cox::kubelet
