// SPDX-License-Identifier: Apache-2.0
// Adds a proxy container to every Pod of a labelled namespace. See README.md.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coxswain/manager.h"
#include "coxswain/webhook.h"
#include "injector.h"

namespace {

using cox::core::v1::Pod;

constexpr char kName[] = "sidecar-injector";
constexpr char kPath[] = "/mutate-pods";

// The value of --name=VALUE, which is taken out of the arguments; the others are RunOperator's.
std::string TakeFlag(std::vector<char*>& arguments, std::string_view name, std::string fallback) {
  const std::string prefix = "--" + std::string(name) + "=";
  for (auto at = arguments.begin(); at != arguments.end(); ++at) {
    if (!std::string_view(*at).starts_with(prefix)) continue;
    fallback = std::string_view(*at).substr(prefix.size());
    arguments.erase(at);
    break;
  }
  return fallback;
}

struct Settings {
  std::string address;     // where we listen
  std::string url;         // where the API server finds us, if not by the Service
  cox::ObjectKey service;  // namespace and name: of the Service, and of the Secret beside it
  sidecar::InjectorOptions injector;
};

cox::WebhookOptions ServerOptions(const Settings& settings) {
  cox::WebhookOptions options;
  options.address = settings.address;
  options.self_signed = cox::SelfSigned{
      .secret = {settings.service.ns, settings.service.name + "-cert"},
      .names = {settings.service.name + "." + settings.service.ns + ".svc", "127.0.0.1"}};
  return options;
}

cox::admissionregistration::v1::WebhookClientConfig ClientConfig(const Settings& settings) {
  cox::admissionregistration::v1::WebhookClientConfig client;
  if (!settings.url.empty()) {
    client.url = settings.url + kPath;
  } else {
    auto& service = client.service.emplace();
    service.namespace_ = settings.service.ns;
    service.name = settings.service.name;
    service.path = kPath;
  }
  return client;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  Settings settings;
  settings.address = TakeFlag(arguments, "webhook-bind-address", ":9443");
  settings.url = TakeFlag(arguments, "webhook-url", "");
  settings.service =
      cox::ObjectKey::Parse(TakeFlag(arguments, "service", std::string(kName) + "/" + kName));
  settings.injector.proxy_image = TakeFlag(arguments, "proxy-image", settings.injector.proxy_image);
  settings.injector.init_image = TakeFlag(arguments, "init-image", "");

  std::unique_ptr<cox::WebhookServer> server;
  return cox::RunOperator(
      static_cast<int>(arguments.size()), arguments.data(),
      {.name = kName,
       .description = "adds a proxy container to every Pod of a labelled namespace\n"
                      "  also: --webhook-bind-address= --webhook-url= --service=NAMESPACE/NAME "
                      "--proxy-image= --init-image="},
      [&](cox::Manager& manager) {
        server = cox::WebhookServer::Create(ServerOptions(settings), &manager.metrics());
        server->Mutate<Pod>(kPath, [&](cox::Context&, const cox::AdmissionRequest<Pod>&, Pod& pod) {
          const sidecar::Outcome outcome = sidecar::Inject(settings.injector, pod);
          cox::AdmissionResponse response = cox::AdmissionResponse::Allow();
          if (outcome == sidecar::Outcome::kHostNetwork) {
            response.Warn("no proxy: the Pod uses the node's network");
          }
          return response.Audit("injected",
                                outcome == sidecar::Outcome::kInjected ? "true" : "false");
        });
        server->Register(
            sidecar::Configuration(kName, ClientConfig(settings), settings.service.ns));
        return server->AddTo(manager);
      });
}
