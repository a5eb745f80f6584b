// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cmd/up/containerd_config.h"
#include "cmd/up/options.h"
#include "cmd/up/pause/pause_image.h"
#include "object/codec/json/json.h"

namespace cox::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<UpOptions> Parsed(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  const Result<Flags> flags = Flags::Parse(UpFlags(), argv);
  if (!flags.ok()) return flags.status();
  return UpOptionsFrom(*flags);
}

TEST(UpOptionsTest, AddressesAreDerivedFromNetworks) {
  const auto options =
      Parsed({"--node-ip=192.0.2.7", "--node-name=n", "--service-cidr=10.43.0.0/16",
              "--cluster-cidr=10.42.0.0/16", "--data-dir=/srv/c", "--etcd-port=12379"});
  ASSERT_TRUE(options.ok()) << options.status().ToString();
  EXPECT_EQ(options->api_service_ip, "10.43.0.1");
  EXPECT_EQ(options->dns_ip, "10.43.0.10");
  EXPECT_EQ(options->first_pod_cidr, "10.42.0.0/24");
  EXPECT_EQ(options->advertised_url(), "https://192.0.2.7:6443");
  EXPECT_EQ(options->kubeconfig, "/srv/c/admin.conf");
  EXPECT_EQ(options->ports.etcd_peer, 12380);
  EXPECT_TRUE(options->node);
}

TEST(UpOptionsTest, ErrorsContainFlagAndExpectedValue) {
  const struct {
    std::string flag, says;
  } cases[] = {
      {"--service-cidr=ten", "--service-cidr: ten: want a CIDR"},
      {"--service-cidr=10.96.0.0/30", "--service-cidr: 10.96.0.0/30 is too small"},
      {"--cluster-cidr=10.244.0.0/26", "at least a /24"},
      {"--node-ip=here", "--node-ip=here: want an IP address"},
      {"--registry-mirror=docker.io", "want NAME=URL"},
      {"--secure-port=0", "--secure-port=0: want a number"},
      {"--data-dir=/" + std::string(120, 'x'), "want a shorter path"},
  };
  for (const auto& test : cases) {
    const auto options = Parsed({test.flag});
    EXPECT_THAT(options.status().message(), HasSubstr(test.says)) << test.flag;
  }
}

TEST(UpOptionsTest, LogLimits) {
  const auto defaults = Parsed({"--node-ip=192.0.2.7"});
  ASSERT_TRUE(defaults.ok()) << defaults.status().ToString();
  EXPECT_EQ(defaults->log_limits.max_bytes, 100U << 20);
  EXPECT_EQ(defaults->log_limits.max_files, 3);
  const auto given =
      Parsed({"--node-ip=192.0.2.7", "--log-file-max-size=5", "--log-file-max-files=0"});
  ASSERT_TRUE(given.ok()) << given.status().ToString();
  EXPECT_EQ(given->log_limits.max_bytes, 5U << 20);
  EXPECT_EQ(given->log_limits.max_files, 0);
  EXPECT_FALSE(Parsed({"--node-ip=192.0.2.7", "--log-file-max-size=-1"}).ok());
  EXPECT_FALSE(Parsed({"--node-ip=192.0.2.7", "--log-file-max-files=x"}).ok());
}

TEST(UpOptionsTest, AddressInCarries) {
  EXPECT_EQ(*AddressIn("10.0.0.250/16", 0), "10.0.0.0");
  EXPECT_EQ(*AddressIn("10.0.0.0/16", 260), "10.0.1.4");
  EXPECT_EQ(*AddressIn("fd00::/112", 10), "fd00::a");
  EXPECT_FALSE(AddressIn("10.0.0.0/24", 256).ok());
}

TEST(UpOptionsTest, DataDirIsCanonical) {
  char pattern[] = "/tmp/cox-up-XXXXXX";
  const std::filesystem::path dir = ::mkdtemp(pattern);
  std::filesystem::create_directory(dir / "real");
  std::filesystem::create_directory_symlink("real", dir / "link");
  for (const char* name : {"real", "real/", "./real//", "link", "link/", "link/../real"}) {
    const auto options = Parsed({"--node-ip=192.0.2.7", "--data-dir=" + (dir / name).string()});
    ASSERT_TRUE(options.ok()) << options.status().ToString();
    EXPECT_EQ(options->paths.data, dir / "real") << name;
  }
  const auto later = Parsed({"--node-ip=192.0.2.7", "--data-dir=" + (dir / "later/").string()});
  EXPECT_EQ(later->paths.data, dir / "later");
  std::filesystem::remove_all(dir);
}

TEST(UpPathsTest, BridgeNameDependsOnDataDir) {
  EXPECT_EQ(UpPaths("/var/lib/coxswain").bridge(), "cox0");
  EXPECT_EQ(UpPaths("/srv/a").bridge(), UpPaths("/srv/a").bridge());
  EXPECT_NE(UpPaths("/srv/a").bridge(), UpPaths("/srv/b").bridge());
  EXPECT_LT(UpPaths("/srv/a").bridge().size(), 16u);  // limit of the kernel
}

TEST(ContainerdConfigTest, ConfigDependsOnMachine) {
  const UpPaths paths("/srv/c");
  const std::string plain =
      ContainerdConfig(paths, {.cni_plugins = "/usr/lib/cni"}, "example.com/pause:1");
  EXPECT_THAT(plain, HasSubstr("address = \"/srv/c/run/containerd.sock\""));
  EXPECT_THAT(plain, HasSubstr("sandbox = \"example.com/pause:1\""));
  EXPECT_THAT(plain, HasSubstr("SystemdCgroup = false"));
  EXPECT_THAT(plain, HasSubstr("snapshotter = \"overlayfs\""));
  EXPECT_THAT(plain, Not(HasSubstr("restrict_oom_score_adj")));
  const std::string held = ContainerdConfig(paths,
                                            {.cni_plugins = "/usr/lib/cni",
                                             .systemd = true,
                                             .may_raise_oom_priority = false,
                                             .overlay_below = true},
                                            "example.com/pause:1");
  EXPECT_THAT(held, HasSubstr("SystemdCgroup = true"));
  EXPECT_THAT(held, HasSubstr("snapshotter = \"native\""));
  EXPECT_THAT(held, HasSubstr("restrict_oom_score_adj = true"));
  EXPECT_THAT(held, Not(HasSubstr("oom_score = ")));
}

TEST(ContainerdConfigTest, ConfigDependsOnContainerdVersion) {
  const std::pair<std::string_view, int> versions[] = {
      {"containerd github.com/containerd/containerd/v2 2.1.9+unknown \n", 201},
      {"containerd containerd.io v2.0.4 1a43cb6a1035441f9aca8f5666a9b3ef9e70ab20\n", 200},
      {"containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6\n", 107},
      {"no such thing", 0}};
  for (const auto& [output, version] : versions) {
    EXPECT_EQ(ContainerdVersion(output), version) << output;
  }
  const UpPaths paths("/srv/c");
  const std::string old =
      ContainerdConfig(paths, {.containerd = 107, .cni_plugins = "/usr/lib/cni"}, "p:1");
  EXPECT_THAT(old, HasSubstr("version = 2\n"));
  EXPECT_THAT(old, HasSubstr("sandbox_image = \"p:1\""));
  EXPECT_THAT(old, HasSubstr("bin_dir = \"/usr/lib/cni\""));
  EXPECT_THAT(old, Not(HasSubstr("io.containerd.cri.v1")));
}

TEST(ContainerdConfigTest, CniConfigHasPodCidrOfNode) {
  const std::string text = CniConflist(UpPaths("/srv/c"), "10.244.3.0/24");
  EXPECT_TRUE(json::Parse(text).ok());
  EXPECT_THAT(text, HasSubstr("\"subnet\": \"10.244.3.0/24\""));
}

TEST(PauseImageTest, ServedByTagAndDigest) {
  const PauseImage image;
  const std::string tag = image.reference().substr(image.reference().rfind(':') + 1);
  const net::Response manifest = image.Answer("GET", "/v2/pause/manifests/" + tag);
  ASSERT_EQ(manifest.status, 200);
  const auto parsed = json::Parse(manifest.body.front().view());
  ASSERT_TRUE(parsed.ok());
  const std::string text(manifest.body.front().view());
  for (size_t at = text.find("sha256:"); at != std::string::npos;
       at = text.find("sha256:", at + 1)) {
    const std::string digest = text.substr(at, 71);
    const net::Response blob = image.Answer("GET", "/v2/pause/blobs/" + digest);
    EXPECT_EQ(blob.status, 200) << digest;
    EXPECT_EQ(blob.headers.Get("docker-content-digest"), digest);
  }
  const std::string digest(*manifest.headers.Get("docker-content-digest"));
  EXPECT_EQ(image.Answer("HEAD", "/v2/pause/manifests/" + digest).status, 200);
  EXPECT_EQ(image.Answer("GET", "/v2/").status, 200);
  EXPECT_EQ(image.Answer("GET", "/v2/pause/manifests/latest").status, 404);
  EXPECT_EQ(image.Answer("GET", "/v2/other/blobs/" + digest).status, 404);
  EXPECT_EQ(image.Answer("PUT", "/v2/pause/manifests/" + tag).status, 405);
}

}  // namespace
}  // namespace cox::cmd
