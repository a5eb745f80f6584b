// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "api/admissionregistration/v1.h"
#include "api/core/v1.h"

// What the sidecar injector decides. Pure functions of a Pod.
namespace sidecar {

// Pods of namespaces with this label get a proxy.
inline constexpr char kNamespaceLabel[] = "sidecar.example.com/inject";
inline constexpr char kNamespaceValue[] = "enabled";
// On a Pod: "false" keeps the proxy out.
inline constexpr char kInjectAnnotation[] = "sidecar.example.com/inject";
// On a Pod that got one: with which image.
inline constexpr char kStatusAnnotation[] = "sidecar.example.com/injected";
inline constexpr char kProxyName[] = "proxy";
inline constexpr char kInitName[] = "proxy-init";
inline constexpr char kProxyImage[] = "registry.example.com/proxy:v1";

struct InjectorOptions {
  std::string proxy_image = kProxyImage;
  uint16_t proxy_port = 15001;
  // Run before all others, to lead the Pod's traffic through the proxy; empty: none.
  std::string init_image;
};

enum class Outcome : uint8_t {
  kInjected,
  kThereAlready,  // asked again (reinvocation), or the user has one of that name
  kOptedOut,      // by the annotation
  kHostNetwork,   // its traffic is the node's: not ours to redirect
};

// Adds the proxy as the first container, so that the others start behind it. Doing it again changes
// nothing.
Outcome Inject(const InjectorOptions& options, cox::core::v1::Pod& pod);

// How the API server is told to ask us about Pods of labelled namespaces. `client` says where we
// are; `own_namespace` is left out, so that the injector can start without itself.
cox::admissionregistration::v1::MutatingWebhookConfiguration Configuration(
    const std::string& name, cox::admissionregistration::v1::WebhookClientConfig client,
    const std::string& own_namespace);

}  // namespace sidecar
