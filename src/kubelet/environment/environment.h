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
  // Services of the Pod's namespace, and default/kubernetes, which every container gets.
  std::vector<std::shared_ptr<const core::v1::Service>> services;
};

struct Environment {
  EnvironmentList variables;  // each name once, in the order of first definition
  // Keys of config maps and secrets that are not valid variable names; reported in an event.
  std::vector<std::string> skipped;

  const std::string* Find(std::string_view name) const;
};

// The environment of a container. Precedence, lowest first: services, envFrom, env.
//
// Errors: BadRequest or NotFound with the message of CreateContainerConfigError: `configmap "x" not
//   found`, `couldn't find key k in Secret default/x`.
Result<Environment> MakeEnvironment(Context& ctx, const EnvironmentInput& input,
                                    ObjectSource& objects);

// Expands $(NAME) references in command and args.
List<std::string> ExpandWords(const List<std::string>& words, const Environment& environment);

// Expands subPathExpr. Unlike ExpandWords, an undefined variable is BadRequest, because the path
// would be a different one.
Result<std::string> ExpandPath(const std::string& text, const Environment& environment);

}  // namespace cox::kubelet
