// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/load.h"

#include <utility>
#include <vector>

#include "base/file_watch.h"
#include "base/strings.h"
#include "sdk/config/kubeconfig.h"

namespace cox {
namespace sdk {
namespace {

namespace fs = std::filesystem;

// Absolute, so that it does not depend on later changes of the working directory.
fs::path FolderOf(const fs::path& file) {
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  return (error ? file : absolute).parent_path();
}

bool Exists(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

Status AddFile(const fs::path& file, Kubeconfig* all) {
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(file));
  return all->Add(text, file.string(), FolderOf(file));
}

Result<Config> FromFiles(const std::vector<fs::path>& files, std::string_view context) {
  Kubeconfig all;
  for (const fs::path& file : files) COX_RETURN_IF_ERROR(AddFile(file, &all));
  auto config = all.Resolve(context);
  if (!config.ok() && config.status().message().find(files.front().string()) == std::string::npos) {
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.string());
    return config.status().WithContext(Join(names, ":"));
  }
  return config;
}

// The existing files of $KUBECONFIG.
std::vector<fs::path> ListedFiles(const std::string& list) {
  std::vector<fs::path> files;
  for (const std::string_view part : Split(list, ':')) {
    if (!part.empty() && Exists(part)) files.emplace_back(part);
  }
  return files;
}

}  // namespace

Result<Config> InCluster(const Environment& environment) {
  std::string host = environment.variable("KUBERNETES_SERVICE_HOST");
  const std::string port = environment.variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Status::NotFound(
        "this is no Pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  const fs::path folder = environment.root / "var/run/secrets/kubernetes.io/serviceaccount";
  Config config;
  config.server = "https://" + host + ":" + port;
  config.token_file = folder / "token";
  config.ca_file = folder / "ca.crt";
  // The files are read for each request; this only checks that they exist.
  COX_ASSIGN_OR_RETURN(const std::string token, ReadBoundedFile(config.token_file));
  if (TrimSpace(token).empty()) {
    return Status::NotFound(config.token_file.string() + ": the token is empty");
  }
  COX_RETURN_IF_ERROR(ReadBoundedFile(config.ca_file).status());
  if (const auto ns = ReadBoundedFile(folder / "namespace"); ns.ok() && !TrimSpace(*ns).empty()) {
    config.ns = TrimSpace(*ns);
  }
  return config;
}

Result<Config> Load(const ConfigOptions& options, const Environment& environment) {
  if (!options.kubeconfig.empty()) return FromFiles({options.kubeconfig}, options.context);
  if (const std::string list = environment.variable("KUBECONFIG"); !list.empty()) {
    const std::vector<fs::path> files = ListedFiles(list);
    if (files.empty()) return Status::NotFound("KUBECONFIG: there is no file " + list);
    return FromFiles(files, options.context);
  }
  // A context requires a kubeconfig file.
  Status not_in_cluster = Status::NotFound("not asked, for a context is named");
  if (options.context.empty()) {
    auto config = InCluster(environment);
    if (config.ok()) return config;
    not_in_cluster = config.status();
  }
  const std::string home = environment.variable("HOME");
  const fs::path file = fs::path(home) / ".kube/config";
  if (!home.empty() && Exists(file)) return FromFiles({file}, options.context);
  return Status::NotFound(
      "no configuration of a cluster was found: --kubeconfig and KUBECONFIG are not set; service "
      "account: " +
      not_in_cluster.message() + "; there is no " + (home.empty() ? "HOME" : file.string()));
}

}  // namespace sdk

Result<Config> LoadConfig(const ConfigOptions& options) {
  return sdk::Load(options, sdk::Environment::Real());
}

Result<Config> ParseKubeconfig(std::string_view text, const std::filesystem::path& folder,
                               std::string_view context) {
  sdk::Kubeconfig kubeconfig;
  COX_RETURN_IF_ERROR(kubeconfig.Add(text, "kubeconfig", folder));
  return kubeconfig.Resolve(context);
}

Result<Config> InClusterConfig() { return sdk::InCluster(sdk::Environment::Real()); }

}  // namespace cox
