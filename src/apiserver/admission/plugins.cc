// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins.h"

#include <algorithm>

namespace cox::apiserver {

AdmissionChain DefaultAdmission(const Registry& registry,
                                const std::vector<std::string>& disabled) {
  std::vector<std::unique_ptr<const AdmissionPlugin>> plugins;
  auto add = [&](std::unique_ptr<const AdmissionPlugin> plugin) {
    const bool off = std::find(disabled.begin(), disabled.end(), plugin->name()) != disabled.end();
    if (!off) plugins.push_back(std::move(plugin));
  };
  add(NewNamespaceLifecycle(registry));  // first: nothing else matters where there is no namespace
  add(NewTaintNodesByCondition());
  add(NewPriority(registry));
  add(NewDefaultTolerationSeconds());
  add(NewStorageObjectInUseProtection());
  add(NewRuntimeClass(registry));
  add(NewNodeDeclaredFeatureValidator(registry));
  return AdmissionChain(std::move(plugins));
}

}  // namespace cox::apiserver
