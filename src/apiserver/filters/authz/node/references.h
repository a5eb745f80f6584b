// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/filters/authz/node/node_graph.h"

// What objects refer to, as far as their node has to read it. Pure functions.
namespace cox::apiserver {

// Visits the secrets, or config maps, that a Pod names in its namespace: environment of containers
// of every sort, volumes, what volumes are projected from, secrets for pulling images. A name may
// come more than once.
using NameVisitor = std::function<void(const std::string& name)>;
void VisitSecretNames(const core::v1::PodSpec& spec, const NameVisitor& visit);
void VisitConfigMapNames(const core::v1::PodSpec& spec, const NameVisitor& visit);

// All that the node of a Pod needs for it, each once. Nothing for a mirror Pod: the node makes
// those itself, and must not give itself anything by that.
std::vector<NodeObjectRef> ReferencesOf(const core::v1::Pod& pod);

// The secrets that nodes need to use a volume; not those of controllers.
std::vector<NodeObjectRef> SecretsOf(const core::v1::PersistentVolume& volume);

// The claim that an ephemeral volume of the Pod gets.
std::string EphemeralClaimName(const core::v1::Pod& pod, const core::v1::Volume& volume);

}  // namespace cox::apiserver
