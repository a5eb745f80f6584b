// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/v1.h"
#include "apiserver/admission/admission.h"
#include "apiserver/admission/plugins/shared/amounts.h"
#include "object/object.h"
#include "object/scalar/time.h"

namespace cox::apiserver::quota {

using amounts::Add;
using amounts::Amounts;
using amounts::Increase;
using amounts::Masked;
using amounts::RaiseTo;
using amounts::ToText;

// One condition on what a quota counts: "PriorityClass In [high]".
using Scope = core::v1::ScopedResourceSelectorRequirement;

// Measures the objects of one resource for quotas.
//
// All methods are pure. Threads: may be called concurrently. Objects are of the resource's hub
// kind.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Whether such a request can raise the usage at all.
  virtual bool Handles(Operation operation, std::string_view subresource) const {
    return operation == Operation::kCreate && subresource.empty();
  }
  // Whether this resource of a quota ("requests.cpu", "count/jobs.batch") is one it measures.
  virtual bool Measures(std::string_view name) const = 0;
  // Whether the object is one of those the scope means.
  virtual bool InScope(const Scope&, const Object&) const { return false; }
  // What the object fails to say though a quota bounds it: "must specify ..."; empty if nothing.
  virtual std::string Missing(const Amounts&, const Object&) const { return {}; }
  // What the object takes.
  virtual Amounts Usage(const Object& object, const Time& now) const = 0;
};
using EvaluatorPtr = std::unique_ptr<const Evaluator>;

EvaluatorPtr NewPodEvaluator();
EvaluatorPtr NewServiceEvaluator();
EvaluatorPtr NewClaimEvaluator();  // of volumes
EvaluatorPtr NewResourceClaimEvaluator();
// Counts objects, under the name "count/<resource>.<group>" and for some under an older one.
EvaluatorPtr NewCountEvaluator(const Resource& resource);

// "count/deployments.apps"
std::string CountName(const Resource& resource);

// Whether the scope's operator and values accept `value`; empty: there is none.
bool Accepts(const Scope& scope, std::string_view value);

}  // namespace cox::apiserver::quota
