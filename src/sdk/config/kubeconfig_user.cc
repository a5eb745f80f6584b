// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/strings.h"
#include "sdk/config/fields.h"
#include "sdk/config/kubeconfig.h"

namespace cox::sdk {
namespace {

constexpr std::string_view kAuthProvider =
    "is not supported, as in kubectl since 1.26: use exec with the credential plugin of the cloud "
    "(aws-iam-authenticator or aws eks get-token, gke-gcloud-auth-plugin, kubelogin)";

Result<ExecPlugin> ReadExec(const Value& value, const std::filesystem::path& folder) {
  Fields fields(&value);
  ExecPlugin exec;
  exec.command = fields.Text("command");
  if (exec.command.empty()) fields.Fail("command", "must be set");
  // A name without a slash is searched in PATH.
  if (exec.command.find('/') != std::string::npos) exec.command = (folder / exec.command).string();
  exec.arguments = fields.Texts("args");
  for (const Value* const item : fields.Objects("env")) {
    Fields variable(item);
    const std::string name = variable.Text("name");
    const std::string text = variable.Text("value");
    if (name.empty() || name.find('=') != std::string::npos || !variable.status().ok()) {
      fields.Fail("env", "each must have a name and a value");
    }
    exec.environment.emplace_back(name, text);
  }
  exec.api_version = fields.Text("apiVersion");
  if (exec.api_version.empty()) fields.Fail("apiVersion", "must be set");
  exec.install_hint = fields.Text("installHint");
  exec.provide_cluster_info = fields.Flag("provideClusterInfo");
  const std::string mode = fields.Text("interactiveMode");
  if (!mode.empty()) {
    exec.interactive_mode = mode;
  } else if (exec.api_version == "client.authentication.k8s.io/v1") {
    fields.Fail("interactiveMode", "must be Never, IfAvailable or Always");
  }
  if (!fields.status().ok()) return fields.status().WithContext("exec");
  return exec;
}

void ReadCertificate(Fields& fields, const std::filesystem::path& folder, Config* config) {
  config->certificate_pem = fields.Base64("client-certificate-data");
  config->certificate_file = fields.Path("client-certificate", folder);
  config->key_pem = Secret<std::string>(fields.Base64("client-key-data"));
  config->key_file = fields.Path("client-key", folder);
  if (!config->certificate_pem.empty() && !config->certificate_file.empty()) {
    fields.Fail("client-certificate", "client-certificate-data is set, too: keep one");
  }
  if (!config->key_pem.Reveal().empty() && !config->key_file.empty()) {
    fields.Fail("client-key", "client-key-data is set, too: keep one");
  }
  const bool has_certificate =
      !config->certificate_pem.empty() || !config->certificate_file.empty();
  const bool has_key = !config->key_pem.Reveal().empty() || !config->key_file.empty();
  if (has_certificate && !has_key) fields.Fail("client-key", "must be set for client-certificate");
  if (has_key && !has_certificate) fields.Fail("client-certificate", "must be set for client-key");
}

void ReadImpersonation(Fields& fields, Config::Impersonate* as) {
  as->user = fields.Text("as");
  as->uid = fields.Text("as-uid");
  as->groups = fields.Texts("as-groups");
  if (const Value* const extra = fields.Object("as-user-extra")) {
    Fields keys(extra);
    for (const auto& [key, value] : extra->as_object()) as->extra[key] = keys.Texts(key);
    if (!keys.status().ok()) fields.Fail("as-user-extra", keys.status().message());
  }
  if (as->user.empty() && !(as->uid.empty() && as->groups.empty() && as->extra.empty())) {
    fields.Fail("as", "must be set where as-uid, as-groups or as-user-extra is");
  }
}

}  // namespace

Status ReadUser(const Value& user, const std::filesystem::path& folder, Config* config) {
  Fields fields(&user);
  if (fields.Has("auth-provider")) fields.Fail("auth-provider", kAuthProvider);
  ReadCertificate(fields, folder, config);
  config->token = Secret<std::string>(fields.Text("token"));
  config->token_file = fields.Path("tokenFile", folder);
  config->username = fields.Text("username");
  config->password = Secret<std::string>(fields.Text("password"));
  const bool has_token = !config->token.Reveal().empty() || !config->token_file.empty();
  const bool has_password = !config->username.empty() || !config->password.Reveal().empty();
  if (has_token && has_password) {
    fields.Fail("token", "username and password are set, too: keep one");
  }
  ReadImpersonation(fields, &config->impersonate);
  if (const Value* const exec = fields.Object("exec")) {
    auto plugin = ReadExec(*exec, folder);
    if (!plugin.ok()) return fields.status().ok() ? plugin.status() : fields.status();
    config->exec = *std::move(plugin);
  }
  return fields.status();
}

}  // namespace cox::sdk
