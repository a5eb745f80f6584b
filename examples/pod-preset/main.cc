// SPDX-License-Identifier: Apache-2.0
// Merges presets, stored in ConfigMaps, into matching Pods on creation. See README.md.
#include <memory>
#include <string>
#include <vector>

#include "coxswain/manager.h"
#include "coxswain/webhook_endpoint.h"
#include "preset.h"

namespace {

using cox::core::v1::ConfigMap;
using cox::core::v1::Pod;

constexpr char kName[] = "pod-preset";
constexpr char kPath[] = "/mutate-pods";

// The matching presets of the Pod's namespace, from the cache. Invalid presets are reported by an
// event and skipped.
std::vector<preset::Preset> PresetsFor(cox::Manager& manager, const std::string& ns, const Pod& pod,
                                       bool dry_run) {
  std::vector<preset::Preset> presets;
  for (const auto& map : manager.cache().ListerOf<ConfigMap>().List(ns)) {
    cox::Result<preset::Preset> parsed = preset::ParsePreset(*map);
    if (!parsed.ok()) {
      if (!dry_run) {
        manager.events().Record(*map, cox::EventKind::kWarning, "InvalidPreset", "Reading",
                                parsed.status().message());
      }
      continue;
    }
    if (parsed->selector.Matches(pod.metadata.labels)) presets.push_back(*std::move(parsed));
  }
  return presets;
}

// The event is about the preset, because the Pod may have no name yet and may never exist.
void ReportConflict(cox::Manager& manager, const std::string& ns, const Pod& pod,
                    const preset::Clash& clash) {
  const auto map = manager.cache().ListerOf<ConfigMap>().Get({ns, clash.preset});
  if (map == nullptr) return;
  const std::string name =
      pod.metadata.name.empty() ? pod.metadata.generateName + "*" : pod.metadata.name;
  manager.events().Record(*map, cox::EventKind::kWarning, "PresetConflict", "Merging",
                          "Pod " + name + " was left as it is: conflict about " + clash.what);
}

cox::AdmissionResponse MutatePod(cox::Context& ctx, cox::Manager& manager,
                                 const cox::AdmissionRequest<Pod>& request, Pod& pod) {
  if (!request.IsCreate() || !preset::Wants(pod)) return cox::AdmissionResponse::Allow();
  // Without the presets the webhook cannot decide; the request fails and the client retries.
  const cox::Status synced = manager.cache().InformerOf<ConfigMap>().WaitSynced(ctx);
  if (!synced.ok()) return cox::AdmissionResponse::Fail(synced);
  const std::string& ns = request.review.namespace_;
  std::vector<preset::Preset> presets = PresetsFor(manager, ns, pod, request.dry_run());
  const std::optional<preset::Clash> clash = preset::Merge(std::move(presets), pod);
  cox::AdmissionResponse response = cox::AdmissionResponse::Allow();
  if (!clash) return response;
  if (!request.dry_run()) ReportConflict(manager, ns, pod, *clash);
  return response.Warn("presets were not merged: " + clash->preset + " conflicts about " +
                       clash->what);
}

// Watches and caches only ConfigMaps that are presets.
cox::ManagerOptions PresetsOnly() {
  cox::CacheScope scope;
  auto labels = cox::labels::Selector::Parse(std::string(preset::kPresetLabel) + "=true");
  scope.labels = *std::move(labels);
  cox::ManagerOptions options;
  options.cache.by_resource.emplace_back(cox::Resource::Of<ConfigMap>(), std::move(scope));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<cox::WebhookServer> server;
  return cox::RunOperator(
      argc, argv,
      {.name = kName,
       .description = "merges presets, kept in ConfigMaps, into Pods",
       .manager = PresetsOnly(),
       .flags = cox::WebhookEndpoint::Flags()},
      [&](cox::Manager& manager, const cox::Flags& flags) {
        const auto endpoint = cox::WebhookEndpoint::From(flags, {kName, kName});
        server = cox::WebhookServer::Create(endpoint.Options(), &manager.metrics());
        // Starts the informer now, so that it is synced when the first Pod is created.
        (void)manager.cache().InformerOf<ConfigMap>();
        server->Mutate<Pod>(kPath,
                            [&manager](cox::Context& ctx, const cox::AdmissionRequest<Pod>& request,
                                       Pod& pod) { return MutatePod(ctx, manager, request, pod); });
        server->Register(
            preset::Configuration(kName, endpoint.ClientConfig(kPath), endpoint.service.ns));
        return server->AddTo(manager);
      });
}
