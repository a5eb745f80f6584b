// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "kubelet/environment/fields.h"
#include "kubelet/environment/services.h"
#include "kubelet/objects/object_source.h"

namespace cox::kubelet {

struct EnvironmentInput {
  const core::v1::Pod& pod;
  const core::v1::Container& container;
  PodFacts facts;
  // Of the Pod's namespace, and default/kubernetes, which every container knows.
  std::vector<std::shared_ptr<const core::v1::Service>> services;
};

struct Environment {
  EnvironmentList variables;  // each name once, in the order they were first defined
  // Keys of config maps and secrets that cannot be names of variables: left out, told in an event.
  std::vector<std::string> skipped;

  const std::string* Find(std::string_view name) const;
};

// The environment of a container. In rising order of who wins: services, envFrom, env.
//
// Errors: what keeps the container from being made (CreateContainerConfigError), with the text for
//   its status: `configmap "x" not found`, `couldn't find key k in Secret default/x`.
Result<Environment> MakeEnvironment(Context& ctx, const EnvironmentInput& input,
                                    ObjectSource& objects);

// command and args with references to the environment expanded.
List<std::string> ExpandWords(const List<std::string>& words, const Environment& environment);

// subPathExpr: as ExpandWords, but a reference to what is not there is BadRequest, because a path
// made of it would be another one than was meant.
Result<std::string> ExpandPath(const std::string& text, const Environment& environment);

}  // namespace cox::kubelet
