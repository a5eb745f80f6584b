// SPDX-License-Identifier: Apache-2.0
#include "kubelet/images/pull_records.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/digest.h"

namespace cox::kubelet {
namespace {

namespace fs = std::filesystem;
using Access = PullRecords::Access;

constexpr char kImage[] = "registry.example/team/app:v1";
constexpr char kRef[] = "sha256:1234";

ImageCredential Credential(const std::string& secret, const std::string& hash) {
  return {.auth = {}, .secret = {"uid-" + secret, "default", secret}, .hash = hash};
}

class PullRecordsTest : public testing::Test {
 protected:
  PullRecordsTest() { fs::remove_all(directory_); }
  ~PullRecordsTest() override { fs::remove_all(directory_); }

  PullRecords Open(VerificationPolicy policy = VerificationPolicy::kNeverVerifyPreloadedImages,
                   std::vector<std::string> allowlist = {}) {
    return PullRecords({directory_, policy, std::move(allowlist)});
  }
  void Pull(PullRecords& records, const std::string& image, const ImageCredential* credential) {
    ASSERT_TRUE(records.Begin(image).ok());
    ASSERT_TRUE(records.Succeeded(image, kRef, credential).ok());
  }
  size_t Files(const std::string& folder) const {
    if (!fs::exists(directory_ + folder)) return 0;
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_ + folder), {}));
  }

  const std::string directory_ = testing::TempDir() + "pull_records_" + std::to_string(::getpid());
};

TEST_F(PullRecordsTest, ImagePulledWithoutCredentialsIsAvailableToAllPods) {
  PullRecords records = Open();
  Pull(records, kImage, nullptr);
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kAllowed);
  EXPECT_EQ(records.AccessTo("registry.example/team/app@sha256:1234", kRef), Access::kAllowed);
  // The same image may be private in another repository.
  EXPECT_EQ(records.AccessTo("registry.example/other/app:v1", kRef), Access::kDenied);
}

TEST_F(PullRecordsTest, PrivateImageRequiresKnownCredential) {
  const ImageCredential first = Credential("first", "h1");
  PullRecords records = Open();
  Pull(records, kImage, &first);
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kByCredential);
  EXPECT_FALSE(records.IsAllowed(kImage, kRef, {}));
  EXPECT_TRUE(records.IsAllowed(kImage, kRef, {first}));
  EXPECT_FALSE(records.IsAllowed(kImage, kRef, {Credential("other", "h2")}));
  EXPECT_FALSE(records.IsAllowed("registry.example/other/app:v1", kRef, {first}));
  EXPECT_FALSE(records.IsAllowed(kImage, "sha256:5678", {first}));
  // The same credential in another Secret, and a new version of a known Secret.
  EXPECT_TRUE(records.IsAllowed(kImage, kRef, {Credential("copy", "h1")}));
  EXPECT_TRUE(records.IsAllowed(kImage, kRef, {Credential("first", "rotated")}));
  EXPECT_TRUE(records.IsAllowed(kImage, kRef, {Credential("another", "rotated")}));
  // A Secret that was deleted and created again has another UID.
  ImageCredential again = Credential("first", "h3");
  again.secret.uid = "new";
  EXPECT_FALSE(records.IsAllowed(kImage, kRef, {again}));
}

TEST_F(PullRecordsTest, RecordsSurviveRestart) {
  const ImageCredential first = Credential("first", "h1");
  {
    PullRecords records = Open();
    Pull(records, kImage, &first);
    EXPECT_TRUE(records.IsAllowed(kImage, kRef, {Credential("copy", "h1")}));
  }
  PullRecords records = Open();
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kByCredential);
  EXPECT_TRUE(records.IsAllowed(kImage, kRef, {Credential("copy", "h2")})) << "rotated";
  EXPECT_FALSE(records.IsAllowed(kImage, kRef, {Credential("other", "h3")}));
  EXPECT_EQ(Files("/pulling"), 0U);
  EXPECT_EQ(Files("/pulled"), 1U);
}

TEST_F(PullRecordsTest, CrashDuringPullMakesImageUnverified) {
  {
    PullRecords records = Open();
    ASSERT_TRUE(records.Begin(kImage).ok());
  }
  PullRecords records = Open();
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kDenied);
  EXPECT_EQ(records.AccessTo("registry.example/preloaded", kRef), Access::kAllowed);
  // After a failed pull the access is still denied; a successful one grants it.
  ASSERT_TRUE(records.Begin(kImage).ok());
  records.Failed(kImage);
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kDenied);
  EXPECT_EQ(Files("/pulling"), 1U);
  Pull(records, kImage, nullptr);
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kAllowed);
  EXPECT_EQ(Files("/pulling"), 0U);
}

// The runtime may have pulled the image although the kubelet does not know it.
TEST_F(PullRecordsTest, AbandonedPullMakesImageUnverified) {
  {
    PullRecords records = Open();
    ASSERT_TRUE(records.Begin(kImage).ok());
    records.Abandoned(kImage);
    EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kDenied);
  }
  PullRecords records = Open();
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kDenied) << "after a restart";
  Pull(records, kImage, nullptr);
  EXPECT_EQ(records.AccessTo(kImage, kRef), Access::kAllowed);
}

TEST_F(PullRecordsTest, RecordThatCannotBeWrittenMakesImageUnverified) {
  {
    PullRecords records = Open();
    ASSERT_TRUE(records.Begin(kImage).ok());
    std::ofstream(directory_ + "/pulled") << "a file instead of a directory";
    const ImageCredential credential = Credential("a", "h");
    EXPECT_FALSE(records.Succeeded(kImage, kRef, &credential).ok());
    fs::remove(directory_ + "/pulled");
  }
  EXPECT_EQ(Open().AccessTo(kImage, kRef), Access::kDenied) << "after a restart";
}

TEST_F(PullRecordsTest, ParallelPullsOfAnImageShareTheIntent) {
  PullRecords records = Open();
  ASSERT_TRUE(records.Begin(kImage).ok());
  ASSERT_TRUE(records.Begin(kImage).ok());
  records.Failed(kImage);
  EXPECT_EQ(Files("/pulling"), 1U);
  records.Failed(kImage);
  EXPECT_EQ(Files("/pulling"), 0U);
}

TEST_F(PullRecordsTest, PolicyDecidesAboutPreloadedImages) {
  const std::vector<std::string> allowlist = {"registry.example/team/*", "nginx"};
  const struct {
    VerificationPolicy policy;
    Access listed, unlisted, pulled;
  } kCases[] = {
      {VerificationPolicy::kNeverVerify, Access::kAllowed, Access::kAllowed, Access::kAllowed},
      {VerificationPolicy::kNeverVerifyPreloadedImages, Access::kAllowed, Access::kAllowed,
       Access::kByCredential},
      {VerificationPolicy::kNeverVerifyAllowlistedImages, Access::kAllowed, Access::kDenied,
       Access::kByCredential},
      {VerificationPolicy::kAlwaysVerify, Access::kDenied, Access::kDenied, Access::kByCredential},
  };
  for (const auto& c : kCases) {
    fs::remove_all(directory_);
    PullRecords records = Open(c.policy, allowlist);
    for (const char* image : {"registry.example/team/x:1", "nginx:1", "docker.io/library/nginx"}) {
      EXPECT_EQ(records.AccessTo(image, "preloaded"), c.listed) << image;
    }
    for (const char* image : {"registry.example/teams", "registry.example/team", "nginx2"}) {
      EXPECT_EQ(records.AccessTo(image, "preloaded"), c.unlisted) << image;
    }
    const ImageCredential credential = Credential("first", "h1");
    Pull(records, kImage, &credential);
    EXPECT_EQ(records.AccessTo(kImage, kRef), c.pulled);
  }
}

TEST_F(PullRecordsTest, RecordsOfRemovedImagesArePruned) {
  PullRecords records = Open();
  Pull(records, kImage, nullptr);
  using Refs = std::set<std::string>;
  EXPECT_TRUE(records.Prune([] { return Refs{kRef}; }).ok());
  EXPECT_EQ(Files("/pulled"), 1U);
  EXPECT_FALSE(records.Prune([] { return Status::Unavailable("no runtime"); }).ok());
  EXPECT_EQ(Files("/pulled"), 1U);
  const auto while_pulling = [&] {
    Pull(records, kImage, nullptr);
    return Refs();
  };
  EXPECT_TRUE(records.Prune(while_pulling).ok());
  EXPECT_EQ(Files("/pulled"), 1U) << "the image was pulled after the list";
  EXPECT_TRUE(records.Prune([] { return Refs(); }).ok());
  EXPECT_EQ(Files("/pulled"), 0U);
}

TEST_F(PullRecordsTest, DamagedFilesDenyAccess) {
  fs::create_directories(directory_ + "/pulled");
  fs::create_directories(directory_ + "/pulling");
  for (const char* text : {"", "x", "[]", "{}", R"({"imageRef":5,"credentialMapping":[]})",
                           R"({"imageRef":"r","credentialMapping":{"a":5}})"}) {
    for (const auto& [folder, key] :
         {std::pair("/pulled/", kRef), std::pair("/pulling/", kImage)}) {
      const std::string path = directory_ + folder + "sha256-" + net::Sha256Hex(key);
      std::ofstream(path) << text;
      EXPECT_EQ(Open().AccessTo(kImage, kRef), Access::kDenied) << folder << text;
      fs::remove(path);
    }
  }
  EXPECT_EQ(Open().AccessTo(kImage, kRef), Access::kAllowed) << "preloaded";
}

TEST(AllowlistTest, EntriesHaveNoTag) {
  EXPECT_TRUE(CheckAllowlist({"a", "r.example/b", "r.example:5000/*", "r.example/b/*"}).ok());
  for (const char* entry : {"", "*", "/*", "a:1", "a@sha256:0", "a*", "a/*/b"}) {
    EXPECT_FALSE(CheckAllowlist({entry}).ok()) << entry;
  }
}

}  // namespace
}  // namespace cox::kubelet
