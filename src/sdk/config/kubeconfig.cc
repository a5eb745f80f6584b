// SPDX-License-Identifier: Apache-2.0
#include "sdk/config/kubeconfig.h"

#include <set>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "net/url.h"
#include "object/codec/json/json.h"
#include "object/codec/yaml/yaml.h"
#include "sdk/config/fields.h"

namespace cox::sdk {
namespace {

// The extension with the plugin's configuration in a cluster entry.
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

std::string ExecExtension(Fields& cluster) {
  for (const Value* const item : cluster.Objects("extensions")) {
    Fields extension(item);
    if (extension.Text("name") != kExecExtension) continue;
    const Value* const found = item->Find("extension");
    return found == nullptr ? "" : json::Write(*found);
  }
  return {};
}

}  // namespace

Status ReadCluster(const Value& cluster, const std::filesystem::path& folder, Config* config) {
  Fields fields(&cluster);
  config->server = fields.Text("server");
  if (config->server.empty()) fields.Fail("server", "must be set");
  config->ca_pem = fields.Base64("certificate-authority-data");
  config->ca_file = fields.Path("certificate-authority", folder);
  config->insecure_skip_tls_verify = fields.Flag("insecure-skip-tls-verify");
  config->tls_server_name = fields.Text("tls-server-name");
  config->proxy_url = fields.Text("proxy-url");
  if (!config->ca_pem.empty() && !config->ca_file.empty()) {
    fields.Fail("certificate-authority", "certificate-authority-data is set, too: keep one");
  }
  const bool has_ca = !config->ca_pem.empty() || !config->ca_file.empty();
  if (config->insecure_skip_tls_verify && has_ca) {
    fields.Fail("insecure-skip-tls-verify", "a certificate-authority is set, too: keep one");
  }
  if (!config->proxy_url.empty()) {
    const auto url = net::ParseUrl(config->proxy_url);
    if (!url.ok()) fields.Fail("proxy-url", url.status().message());
  }
  if (config->exec) config->exec->cluster_config = ExecExtension(fields);
  return fields.status();
}

Status Kubeconfig::Add(std::string_view text, std::string where,
                       const std::filesystem::path& folder) {
  const auto parsed = yaml::Parse(text);
  if (!parsed.ok()) return Status::BadRequest(where + ": " + parsed.status().message());
  Fields root(&*parsed);
  const std::string kind = root.Text("kind");
  const std::string version = root.Text("apiVersion");
  if ((!kind.empty() && kind != "Config") || (!version.empty() && version != "v1")) {
    root.Fail("kind", "it is no kubeconfig (Config of apiVersion v1)");
  }
  if (current_.empty()) current_ = root.Text("current-context");

  struct List {
    const char* name;
    const char* member;
    Entries* entries;
  };
  for (const List& list : {List{"clusters", "cluster", &clusters_}, List{"users", "user", &users_},
                           List{"contexts", "context", &contexts_}}) {
    std::set<std::string> seen;
    for (const Value* const item : root.Objects(list.name)) {
      Fields fields(item);
      const std::string name = fields.Text("name");
      const std::string path = std::string(list.name) + "[" + Quote(name) + "]";
      if (!seen.insert(name).second) root.Fail(path, "the name stands there twice");
      const Value* const value = fields.Object(list.member);
      if (!fields.status().ok()) root.Fail(path, fields.status().message());
      list.entries->try_emplace(
          name, Entry{where + ": " + path, folder, value == nullptr ? Value() : *value});
    }
  }
  if (!root.status().ok()) return Status::BadRequest(where + ": " + root.status().message());
  return {};
}

Result<const Kubeconfig::Entry*> Kubeconfig::FindContext(std::string_view name) const {
  const auto found = contexts_.find(name);
  if (found != contexts_.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, entry] : contexts_) names.push_back(Quote(known));
  const std::string known =
      names.empty() ? "there is no context at all" : "there are " + Join(names, ", ");
  if (name.empty()) return Status::BadRequest("current-context: must be set; " + known);
  return Status::BadRequest("there is no context named " + Quote(name) + "; " + known);
}

Result<Config> Kubeconfig::Resolve(std::string_view context) const {
  COX_ASSIGN_OR_RETURN(const Entry* const entry,
                       FindContext(context.empty() ? std::string_view(current_) : context));
  Fields fields(&entry->value);
  const std::string cluster_name = fields.Text("cluster");
  const std::string user_name = fields.Text("user");
  const auto cluster = clusters_.find(cluster_name);
  const auto user = users_.find(user_name);
  if (cluster_name.empty()) {
    fields.Fail("cluster", "must be set");
  } else if (cluster == clusters_.end()) {
    fields.Fail("cluster", "there is no cluster named " + Quote(cluster_name));
  } else if (!user_name.empty() && user == users_.end()) {
    fields.Fail("user", "there is no user named " + Quote(user_name));
  }
  Config config;
  if (const std::string ns = fields.Text("namespace"); !ns.empty()) config.ns = ns;
  if (!fields.status().ok()) return fields.status().WithContext(entry->where);
  // The user first: ReadCluster sets the cluster's configuration for the plugin.
  if (!user_name.empty()) {
    const Status status = ReadUser(user->second.value, user->second.folder, &config);
    if (!status.ok()) return status.WithContext(user->second.where);
  }
  const Status status = ReadCluster(cluster->second.value, cluster->second.folder, &config);
  if (!status.ok()) return status.WithContext(cluster->second.where);
  return config;
}

}  // namespace cox::sdk
