// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/filters/authz/node/node_graph.h"

// The references of objects that their node must read. Pure functions.
namespace cox::apiserver {

// Visits the Secrets or ConfigMaps that a Pod references: in the environment of all containers, in
// volumes and projected volumes, and as image pull secrets. Names may repeat.
using NameVisitor = std::function<void(const std::string& name)>;
void VisitSecretNames(const core::v1::PodSpec& spec, const NameVisitor& visit);
void VisitConfigMapNames(const core::v1::PodSpec& spec, const NameVisitor& visit);

// All references of a Pod that its node needs, without duplicates. Empty for a mirror Pod: the node
// creates those itself, and must not gain permissions by them.
std::vector<NodeObjectRef> ReferencesOf(const core::v1::Pod& pod);

// The secrets that nodes need to use a volume, without those of controllers.
std::vector<NodeObjectRef> SecretsOf(const core::v1::PersistentVolume& volume);

// The name of the claim for an ephemeral volume of the Pod.
std::string EphemeralClaimName(const core::v1::Pod& pod, const core::v1::Volume& volume);

}  // namespace cox::apiserver
