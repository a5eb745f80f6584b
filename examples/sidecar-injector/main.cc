// SPDX-License-Identifier: Apache-2.0
// Adds a proxy container to every Pod in a labeled namespace. See README.md.
#include <memory>
#include <vector>

#include "coxswain/manager.h"
#include "coxswain/webhook_endpoint.h"
#include "injector.h"

namespace {

using cox::core::v1::Pod;

constexpr char kName[] = "sidecar-injector";
constexpr char kPath[] = "/mutate-pods";

std::vector<cox::FlagInfo> Flags() {
  std::vector<cox::FlagInfo> flags = {
      {"Sidecar", "proxy-image", "image", sidecar::kProxyImage, "what runs beside each Pod"},
      {"Sidecar", "init-image", "image", "", "what runs before it; else nothing does"},
  };
  for (const cox::FlagInfo& flag : cox::WebhookEndpoint::Flags()) flags.push_back(flag);
  return flags;
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<cox::WebhookServer> server;
  return cox::RunOperator(
      argc, argv,
      {.name = kName,
       .description = "adds a proxy container to every Pod of a labelled namespace",
       .flags = Flags()},
      [&](cox::Manager& manager, const cox::Flags& flags) {
        const auto endpoint = cox::WebhookEndpoint::From(flags, {kName, kName});
        const sidecar::InjectorOptions injector{.proxy_image = flags.Get("proxy-image"),
                                                .init_image = flags.Get("init-image")};
        server = cox::WebhookServer::Create(endpoint.Options(), &manager.metrics());
        server->Mutate<Pod>(
            kPath, [injector](cox::Context&, const cox::AdmissionRequest<Pod>&, Pod& pod) {
              const sidecar::Outcome outcome = sidecar::Inject(injector, pod);
              cox::AdmissionResponse response = cox::AdmissionResponse::Allow();
              if (outcome == sidecar::Outcome::kHostNetwork) {
                response.Warn("no proxy: the Pod uses the node's network");
              }
              return response.Audit("injected",
                                    outcome == sidecar::Outcome::kInjected ? "true" : "false");
            });
        server->Register(
            sidecar::Configuration(kName, endpoint.ClientConfig(kPath), endpoint.service.ns));
        return server->AddTo(manager);
      });
}
