// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/admissionregistration/v1.h"
#include "api/core/v1.h"

// The decisions of the sidecar injector, as pure functions of a Pod.
namespace sidecar {

// Pods in namespaces with this label get a proxy.
inline constexpr char kNamespaceLabel[] = "sidecar.example.com/inject";
inline constexpr char kNamespaceValue[] = "enabled";
// On a Pod: "false" disables the injection.
inline constexpr char kInjectAnnotation[] = "sidecar.example.com/inject";
// On an injected Pod: the image of the proxy.
inline constexpr char kStatusAnnotation[] = "sidecar.example.com/injected";
inline constexpr char kProxyName[] = "proxy";
inline constexpr char kInitName[] = "proxy-init";
inline constexpr char kProxyImage[] = "registry.example.com/proxy:v1";

struct InjectorOptions {
  std::string proxy_image = kProxyImage;
  uint16_t proxy_port = 15001;
  // Image of an init container that redirects the Pod's traffic to the proxy; empty: none.
  std::string init_image;
};

enum class Outcome : uint8_t {
  kInjected,
  kThereAlready,  // reinvocation, or the Pod has a container of that name
  kOptedOut,      // by the annotation
  kHostNetwork,   // the traffic of the node must not be redirected
};

// Adds the proxy as the first container, so that it starts before the others. Idempotent.
Outcome Inject(const InjectorOptions& options, cox::core::v1::Pod& pod);

// The webhook configuration for Pods in labeled namespaces. `client` is the address of this server;
// `own_namespace` is excluded, so that the injector can start without itself.
cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace);

}  // namespace sidecar
