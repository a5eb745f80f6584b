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

// A program that gives credentials: users[].user.exec of a kubeconfig (client.authentication.k8s.io
// v1 and v1beta1). It is run without a shell.
struct ExecPlugin {
  std::string command;  // found by PATH, unless it has a slash
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string api_version;
  std::string install_hint;           // what to do where there is no such program
  bool provide_cluster_info = false;  // it is told which cluster it is for
  // JSON that the kubeconfig has for it about the cluster: extensions[] of that name.
  std::string cluster_config;
  std::string interactive_mode = "IfAvailable";  // Never, IfAvailable, Always
};

// Where a cluster is and who we are there. What a kubeconfig says, resolved; build it by hand for
// tests.
//
// Files named here (ca_file, certificate_file, key_file, token_file) are followed while the client
// lives: a rotated token or CA is used for the next request, without a restart.
struct Config {
  std::string server;  // "https://10.0.0.1:6443", "http://127.0.0.1:8001", with a path if any
  std::string ca_pem;
  std::filesystem::path ca_file;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;  // http, https or socks5; empty: HTTPS_PROXY and NO_PROXY say

  std::string certificate_pem;
  Secret<std::string> key_pem;
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  Secret<std::string> token;
  std::filesystem::path token_file;  // wins over `token`
  std::string username;
  Secret<std::string> password;
  std::optional<ExecPlugin> exec;

  struct Impersonate {
    std::string user;
    std::string uid;
    std::vector<std::string> groups;
    std::map<std::string, std::vector<std::string>> extra;
  } impersonate;

  std::string ns = "default";  // of the context, or of the Pod we run in
  std::string user_agent;      // empty: made of the program's name

  // Objects of built-in kinds travel as protobuf, which costs both sides less; JSON where the
  // server does not.
  bool prefer_protobuf = true;
  // Requests that failed for a passing reason (429, 503 with Retry-After, a connection that broke
  // before the server can have seen them) are sent again, for at most this long. 0: never.
  std::chrono::milliseconds retry_for{30'000};
  // Of requests that are not to last. 0: as long as their context.
  std::chrono::milliseconds timeout{0};
};

struct ConfigOptions {
  std::string kubeconfig;  // of a --kubeconfig flag; wins over all else
  std::string context;     // instead of current-context
};

// Finds the configuration as controller-runtime and kubectl users know it. In this order: the
// --kubeconfig flag, the files of $KUBECONFIG (merged: the first to say something wins), the
// service account of the Pod we run in, ~/.kube/config.
//
// Errors: NotFound saying where was looked; BadRequest naming the file, and what is wrong in it.
Result<Config> LoadConfig(const ConfigOptions& options = {});

// From one kubeconfig text; relative paths in it are relative to `folder`.
Result<Config> ParseKubeconfig(std::string_view text, const std::filesystem::path& folder,
                               std::string_view context = "");

// From the environment and files that every Pod has.
Result<Config> InClusterConfig();

}  // namespace cox
