// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace cox::sdk {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LoadTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cox_loadXXXXXX").string();
    dir_ = mkdtemp(pattern.data());
    variables_["HOME"] = (dir_ / "home").string();
    environment_.root = dir_ / "root";
    environment_.variable = [this](const std::string& name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? "" : found->second;
    };
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string Write(const fs::path& name, std::string_view text) {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return (dir_ / name).string();
  }
  // Writes a file with one cluster, user and context of that name.
  std::string WriteSimple(const fs::path& name, const std::string& entry) {
    return Write(name, "current-context: " + entry + "\nclusters: [{name: " + entry +
                           ", cluster: {server: 'https://" + entry + "'}}]\nusers: [{name: " +
                           entry + ", user: {token: " + entry + "}}]\ncontexts: [{name: " + entry +
                           ", context: {cluster: " + entry + ", user: " + entry + "}}]\n");
  }
  void BeInCluster() {
    variables_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
    variables_["KUBERNETES_SERVICE_PORT"] = "443";
    Write(kFolder / "token", "t\n");
    Write(kFolder / "ca.crt", "pem");
  }
  // The server, or the error in parentheses.
  std::string ServerOf(const ConfigOptions& options = {}) {
    const auto config = Load(options, environment_);
    return config.ok() ? config->server : "(" + config.status().ToString() + ")";
  }

  const fs::path kFolder = "root/var/run/secrets/kubernetes.io/serviceaccount";
  fs::path dir_;
  std::map<std::string, std::string> variables_;
  Environment environment_;
};

TEST_F(LoadTest, SearchesInTheDocumentedOrder) {
  EXPECT_THAT(ServerOf(), HasSubstr("NotFound: no configuration of a cluster was found"));
  EXPECT_THAT(ServerOf(), HasSubstr("home/.kube/config"));
  EXPECT_THAT(ServerOf(), HasSubstr("KUBERNETES_SERVICE_HOST"));
  WriteSimple("home/.kube/config", "home");
  EXPECT_EQ(ServerOf(), "https://home");
  BeInCluster();
  EXPECT_EQ(ServerOf(), "https://10.0.0.1:443");
  EXPECT_EQ(ServerOf({.context = "home"}), "https://home");
  variables_["KUBECONFIG"] = WriteSimple("listed", "listed");
  EXPECT_EQ(ServerOf(), "https://listed");
  EXPECT_EQ(ServerOf({.kubeconfig = WriteSimple("flag", "flag")}), "https://flag");
  EXPECT_THAT(ServerOf({.kubeconfig = "/nowhere/kubeconfig"}),
              HasSubstr("NotFound: cannot read /nowhere/kubeconfig"));
}

TEST_F(LoadTest, FilesAreMerged) {
  struct Case {
    const char* name;
    std::string first;
    std::string second;
    const char* context;
    const char* wanted;  // server, token, certificate file or error
  };
  const std::string both =
      "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
  const Case cases[] = {
      {"parts from both", "clusters: [{name: c, cluster: {server: 'https://1'}}]\n",
       both + "users: [{name: u, user: {token: t2}}]\n", "", "https://1 t2 "},
      {"the first of a name counts, whole",
       both + "clusters: [{name: c, cluster: {server: 'https://1'}}]\n"
              "users: [{name: u, user: {username: joe}}]\n",
       "clusters: [{name: c, cluster: {server: 'https://2', certificate-authority: x}}]\n"
       "users: [{name: u, user: {token: t2}}]\n",
       "", "https://1  "},
      {"the first current-context counts",
       "current-context: a\ncontexts: [{name: b, context: {cluster: b}}]\n",
       "current-context: b\ncontexts: [{name: a, context: {cluster: a}}]\n"
       "clusters: [{name: a, cluster: {server: 'https://a'}}, "
       "{name: b, cluster: {server: 'https://b'}}]\n",
       "", "https://a  "},
      {"a context that is asked for", "current-context: a\n",
       "contexts: [{name: b, context: {cluster: b}}]\n"
       "clusters: [{name: b, cluster: {server: 'https://b'}}]\n",
       "b", "https://b  "},
      {"an empty file is one without entries", "",
       "current-context: b\ncontexts: [{name: b, context: {cluster: b}}]\n"
       "clusters: [{name: b, cluster: {server: 'https://b'}}]\n",
       "", "https://b  "},
      {"paths are relative to the file that says them",
       both + "clusters: [{name: c, cluster: {server: 'https://1'}}]\n",
       "users: [{name: u, user: {client-certificate: c, client-key: k}}]\n", "",
       "https://1  two/c"},
      {"a mistake in any of them", both, "users: [{name: u, user: 5}]\n", "", "two/config: users"},
      {"nothing that is asked for", both, "", "none", "one/config:"},
  };
  for (const Case& c : cases) {
    variables_["KUBECONFIG"] = Write("one/config", c.first) + "::" + (dir_ / "absent").string() +
                               ":" + Write("two/config", c.second);
    const auto config = Load({.context = c.context}, environment_);
    const std::string got = config.ok()
                                ? config->server + " " + config->token.Reveal() + " " +
                                      config->certificate_file.lexically_relative(dir_).string()
                                : config.status().message();
    if (config.ok()) {
      EXPECT_EQ(got, c.wanted) << c.name;
    } else {
      EXPECT_THAT(got, HasSubstr(c.wanted)) << c.name;
    }
  }
}

TEST_F(LoadTest, KubeconfigWithoutExistingFilesIsNotFound) {
  WriteSimple("home/.kube/config", "home");
  variables_["KUBECONFIG"] = "/nowhere/a:/nowhere/b";
  EXPECT_THAT(ServerOf(),
              HasSubstr("NotFound: KUBECONFIG: there is no file /nowhere/a:/nowhere/b"));
}

TEST_F(LoadTest, ReadsTheServiceAccountOfThePod) {
  BeInCluster();
  auto config = InCluster(environment_);
  ASSERT_TRUE(config.ok()) << config.status().ToString();
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, dir_ / kFolder / "token");
  EXPECT_EQ(config->ca_file, dir_ / kFolder / "ca.crt");
  EXPECT_EQ(config->ns, "default");
  Write(kFolder / "namespace", "shop\n");
  variables_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  config = InCluster(environment_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->ns, "shop");
}

TEST_F(LoadTest, ErrorNamesTheMissingServiceAccountFile) {
  EXPECT_THAT(InCluster(environment_).status().message(), HasSubstr("this is no Pod"));
  BeInCluster();
  fs::remove(dir_ / kFolder / "ca.crt");
  EXPECT_THAT(InCluster(environment_).status().message(), HasSubstr("ca.crt"));
  Write(kFolder / "token", " \n");
  EXPECT_THAT(InCluster(environment_).status().message(), HasSubstr("the token is empty"));
  fs::remove(dir_ / kFolder / "token");
  EXPECT_THAT(ServerOf(), HasSubstr("serviceaccount/token"));
}

}  // namespace
}  // namespace cox::sdk
