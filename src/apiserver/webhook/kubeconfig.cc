// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "apiserver/webhook/webhook_config.h"
#include "base/file_watch.h"
#include "base/strings.h"
#include "object/codec/json/text.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/value.h"

namespace cox::apiserver {
namespace {

// The string member `key` of `object`; empty if there is none.
Result<std::string> Text(const Value& object, std::string_view key) {
  const Value* const found = object.Find(key);
  if (found == nullptr || found->is_null()) return std::string();
  if (!found->is_string()) return Status::BadRequest(std::string(key) + ": must be a string");
  return std::string(found->as_string());
}

// The content of `<key>-data` (base64) or, if it is absent, of the file named by `<key>`.
Result<std::string> DataOrFile(const Value& object, std::string_view key,
                               const std::string& directory) {
  const std::string data_key = std::string(key) + "-data";
  COX_ASSIGN_OR_RETURN(const std::string data, Text(object, data_key));
  if (!data.empty()) {
    std::string bytes;
    size_t bad_at = 0;
    if (!json::ReadBase64(data, &bytes, &bad_at)) {
      return Status::BadRequest(data_key + ": illegal base64 data at input byte " +
                                std::to_string(bad_at));
    }
    return bytes;
  }
  COX_ASSIGN_OR_RETURN(const std::string path, Text(object, key));
  if (path.empty()) return std::string();
  return ReadBoundedFile(std::filesystem::path(directory) / path);
}

// The member `inner` of the item named `name` in the list `list`.
Result<const Value*> Named(const Value& root, std::string_view list, std::string_view inner,
                           std::string_view name) {
  const Value* const items = root.Find(list);
  if (items != nullptr && items->is_array()) {
    for (const Value& item : items->as_array()) {
      const Value* const own = item.Find("name");
      if (own == nullptr || !own->is_string() || own->as_string() != name) continue;
      const Value* const found = item.Find(inner);
      if (found != nullptr && found->is_object()) return found;
      return Status::BadRequest(std::string(list) + ": " + Quote(name) + " has no " +
                                std::string(inner));
    }
  }
  return Status::BadRequest(std::string(list) + ": there is none named " + Quote(name));
}

Status ReadCluster(const Value& cluster, const std::string& directory, WebhookConfig* config) {
  COX_ASSIGN_OR_RETURN(config->url, Text(cluster, "server"));
  COX_RETURN_IF_ERROR(ParseWebhookUrl(config->url).status());
  COX_ASSIGN_OR_RETURN(config->ca_pem, DataOrFile(cluster, "certificate-authority", directory));
  COX_ASSIGN_OR_RETURN(config->server_name, Text(cluster, "tls-server-name"));
  const Value* const insecure = cluster.Find("insecure-skip-tls-verify");
  config->insecure = insecure != nullptr && insecure->is_bool() && insecure->as_bool();
  if (config->insecure && !config->ca_pem.empty()) {
    return Status::BadRequest(
        "certificate-authority and insecure-skip-tls-verify exclude each other");
  }
  return {};
}

Status ReadUser(const Value& user, const std::string& directory, WebhookConfig* config) {
  for (const std::string_view other : {"exec", "auth-provider", "username", "password"}) {
    if (user.Find(other) != nullptr) {
      return Status::BadRequest(std::string(other) + ": is not supported for webhooks");
    }
  }
  COX_ASSIGN_OR_RETURN(config->certificate_pem, DataOrFile(user, "client-certificate", directory));
  COX_ASSIGN_OR_RETURN(config->key_pem, DataOrFile(user, "client-key", directory));
  if (config->certificate_pem.empty() != config->key_pem.empty()) {
    return Status::BadRequest("client-certificate and client-key belong together");
  }
  COX_ASSIGN_OR_RETURN(config->token, Text(user, "token"));
  COX_ASSIGN_OR_RETURN(const std::string token_file, Text(user, "tokenFile"));
  if (config->token.empty() && !token_file.empty()) {
    COX_ASSIGN_OR_RETURN(const std::string text,
                         ReadBoundedFile(std::filesystem::path(directory) / token_file));
    config->token = TrimSpace(text);
  }
  return {};
}

}  // namespace

Result<WebhookConfig> ParseWebhookKubeconfig(std::string_view text, const std::string& directory) {
  COX_ASSIGN_OR_RETURN(const Value root, yaml::Parse(text));
  if (!root.is_object()) return Status::BadRequest("it is no kubeconfig");
  COX_ASSIGN_OR_RETURN(const std::string current, Text(root, "current-context"));
  if (current.empty()) return Status::BadRequest("current-context: must be set");
  COX_ASSIGN_OR_RETURN(const Value* const context, Named(root, "contexts", "context", current));
  COX_ASSIGN_OR_RETURN(const std::string cluster_name, Text(*context, "cluster"));
  COX_ASSIGN_OR_RETURN(const Value* const cluster,
                       Named(root, "clusters", "cluster", cluster_name));
  WebhookConfig config;
  Status status = ReadCluster(*cluster, directory, &config);
  if (!status.ok()) return status.WithContext("cluster " + Quote(cluster_name));
  COX_ASSIGN_OR_RETURN(const std::string user_name, Text(*context, "user"));
  if (user_name.empty()) return config;
  COX_ASSIGN_OR_RETURN(const Value* const user, Named(root, "users", "user", user_name));
  status = ReadUser(*user, directory, &config);
  if (!status.ok()) return status.WithContext("user " + Quote(user_name));
  return config;
}

Result<WebhookConfig> ReadWebhookKubeconfig(const std::string& path) {
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(path));
  const std::string directory = std::filesystem::path(path).parent_path().string();
  Result<WebhookConfig> config = ParseWebhookKubeconfig(text, directory);
  if (!config.ok()) return Status::BadRequest(path + ": " + config.status().message());
  return config;
}

}  // namespace cox::apiserver
