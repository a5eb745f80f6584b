// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/secret.h"

namespace cox {

// A credential plugin: users[].user.exec of a kubeconfig (client.authentication.k8s.io v1 and
// v1beta1). Executed without a shell.
struct ExecPlugin {
  std::string command;  // searched in PATH unless it contains a slash
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string api_version;
  std::string install_hint;           // shown if the program is not found
  bool provide_cluster_info = false;  // pass the cluster's address and CA to the plugin
  // The cluster's extension for exec plugins (extensions[] in the kubeconfig), as JSON.
  std::string cluster_config;
  std::string interactive_mode = "IfAvailable";  // Never, IfAvailable, Always
};

// Address of a cluster and credentials, resolved from a kubeconfig. Tests can build it directly.
//
// Files named here (ca_file, certificate_file, key_file, token_file) are reloaded while the client
// exists: a rotated token or CA is used for the next request without a restart.
struct Config {
  std::string server;  // "https://10.0.0.1:6443", "http://127.0.0.1:8001", optionally with a path
  std::string ca_pem;
  std::filesystem::path ca_file;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;  // http, https or socks5; empty: from HTTPS_PROXY and NO_PROXY

  std::string certificate_pem;
  Secret<std::string> key_pem;
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  Secret<std::string> token;
  std::filesystem::path token_file;  // takes precedence over `token`
  std::string username;
  Secret<std::string> password;
  std::optional<ExecPlugin> exec;

  struct Impersonate {
    std::string user;
    std::string uid;
    std::vector<std::string> groups;
    std::map<std::string, std::vector<std::string>> extra;
  } impersonate;

  std::string ns = "default";  // from the kubeconfig context or the Pod's namespace
  std::string user_agent;      // empty: derived from the program's name

  // Use protobuf for built-in kinds, which is cheaper for both sides; JSON if the server does not
  // support it.
  bool prefer_protobuf = true;
  // How long requests are retried after transient failures (429 or 5xx with Retry-After, or a
  // connection failure before the server could have received the request). 0: no retries.
  std::chrono::milliseconds retry_for{30'000};
  // Timeout of requests other than watches and streams. 0: only the context's deadline.
  std::chrono::milliseconds timeout{0};
};

struct ConfigOptions {
  std::string kubeconfig;  // value of a --kubeconfig flag; takes precedence
  std::string context;     // overrides current-context
};

// Finds the configuration like controller-runtime and kubectl, in this order: the --kubeconfig
// flag, the files of $KUBECONFIG (merged: the first definition of each entry wins), the Pod's
// service account, ~/.kube/config.
//
// Errors: NotFound with the locations searched; BadRequest with the file and the problem in it.
Result<Config> LoadConfig(const ConfigOptions& options = {});

// Parses one kubeconfig; relative paths in it are relative to `folder`.
Result<Config> ParseKubeconfig(std::string_view text, const std::filesystem::path& folder,
                               std::string_view context = "");

// From the environment variables and files of a Pod's service account.
Result<Config> InClusterConfig();

}  // namespace cox
