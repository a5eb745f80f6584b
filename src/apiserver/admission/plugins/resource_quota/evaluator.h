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

// A scope selector requirement of a quota: "PriorityClass In [high]".
using Scope = core::v1::ScopedResourceSelectorRequirement;

// Computes the quota usage of the objects of one resource.
//
// All methods are pure. Threads: may be called concurrently. Objects are of the resource's hub
// version.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Reports whether such a request can increase the usage.
  virtual bool Handles(Operation operation, std::string_view subresource) const {
    return operation == Operation::kCreate && subresource.empty();
  }
  // Reports whether the evaluator measures this quota resource ("requests.cpu",
  // "count/jobs.batch").
  virtual bool Measures(std::string_view name) const = 0;
  // Reports whether the object is in the scope.
  virtual bool InScope(const Scope&, const Object&) const { return false; }
  // The error text if the object does not specify values that a quota limits: "must specify ...";
  // otherwise empty.
  virtual std::string Missing(const Amounts&, const Object&) const { return {}; }
  // The usage of the object.
  virtual Amounts Usage(const Object& object, const Time& now) const = 0;
};
using EvaluatorPtr = std::unique_ptr<const Evaluator>;

EvaluatorPtr NewPodEvaluator();
EvaluatorPtr NewServiceEvaluator();
EvaluatorPtr NewClaimEvaluator();  // PersistentVolumeClaims
EvaluatorPtr NewResourceClaimEvaluator();
// Counts objects, with the name "count/<resource>.<group>" and for some resources also a legacy
// name.
EvaluatorPtr NewCountEvaluator(const Resource& resource);

// "count/deployments.apps"
std::string CountName(const Resource& resource);

// Reports whether the operator and values of the scope match `value`; an empty `value` means none.
bool Accepts(const Scope& scope, std::string_view value);

}  // namespace cox::apiserver::quota
