// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/admission_config.h"

#include "apiserver/config/config_reader.h"
#include "base/strings.h"
#include "object/codec/yaml/yaml.h"

namespace cox::apiserver {

Result<PluginConfigs> ReadAdmissionConfig(
    std::string_view text,
    const std::function<Result<std::string>(const std::string&)>& read_file) {
  COX_ASSIGN_OR_RETURN(
      ConfigDocument document,
      ConfigDocument::Parse(text, "AdmissionConfiguration",
                            {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1alpha1",
                             "apiserver.k8s.io/v1alpha1"}));
  PluginConfigs configs;
  std::map<std::string, std::string> paths;
  for (const ConfigObject& plugin : document.root().Objects("plugins")) {
    const std::string name = plugin.RequiredString("name");
    const std::string path = plugin.String("path");
    const Value* embedded = plugin.Raw("configuration");
    if (configs.contains(name) || paths.contains(name)) plugin.Fail("name", "is there twice");
    // Like upstream, an embedded configuration takes precedence over a path.
    if (embedded != nullptr) {
      configs.emplace(name, *embedded);
    } else if (!path.empty()) {
      paths.emplace(name, path);
    }
  }
  COX_RETURN_IF_ERROR(document.Finish());
  for (const auto& [name, path] : paths) {
    COX_ASSIGN_OR_RETURN(const std::string contents, read_file(path));
    Result<Value> value = yaml::Parse(contents);
    if (!value.ok()) return value.status().WithContext("configuration of " + name);
    configs.emplace(name, std::move(*value));
  }
  return configs;
}

}  // namespace cox::apiserver
