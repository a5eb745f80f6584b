// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/admission.h"

#include "apiserver/admission/admission_metrics.h"

namespace cox::apiserver {

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return "CREATE";
    case Operation::kUpdate:
      return "UPDATE";
    case Operation::kDelete:
      return "DELETE";
    case Operation::kConnect:
      return "CONNECT";
  }
  return "";
}

struct AdmissionChain::Link {
  std::unique_ptr<const AdmissionPlugin> plugin;
  std::unique_ptr<AdmissionMetrics::Timings> timings;  // null: metrics are disabled
};

AdmissionChain::AdmissionChain() = default;
AdmissionChain::AdmissionChain(AdmissionChain&&) noexcept = default;
AdmissionChain::~AdmissionChain() = default;

AdmissionChain::AdmissionChain(std::vector<std::unique_ptr<const AdmissionPlugin>> plugins,
                               AdmissionMetrics* metrics)
    : metrics_(metrics) {
  for (auto& plugin : plugins) {
    auto timings =
        metrics == nullptr ? nullptr : metrics->ControllerTimings(std::string(plugin->name()));
    links_.push_back({std::move(plugin), std::move(timings)});
  }
}

namespace {

using Step = AdmissionMetrics::Step;

// Calls `call` and records its duration.
template <class Call>
Status Timed(Context& ctx, AdmissionMetrics::Timings* timings, Step step, Operation operation,
             Call call) {
  if (timings == nullptr) return call();
  const Clock::SteadyTime begin = ctx.clock().Monotonic();
  Status status = call();
  timings->Observe(step, operation, !status.ok(), ctx.clock().Monotonic() - begin);
  return status;
}

AdmissionMetrics::Timings* StepTimings(AdmissionMetrics* metrics) {
  return metrics == nullptr ? nullptr : &metrics->step_timings();
}

}  // namespace

Status AdmissionChain::MutateOnce(Context& ctx, const AdmissionRequest& request,
                                  Object& object) const {
  for (const Link& link : links_) {
    COX_RETURN_IF_ERROR(Timed(ctx, link.timings.get(), Step::kAdmit, request.operation,
                              [&] { return link.plugin->Mutate(ctx, request, object); }));
  }
  return {};
}

Status AdmissionChain::Mutate(Context& ctx, AdmissionRequest request, Object& object) const {
  Reinvocation reinvocation;
  request.object = &object;
  request.reinvocation = &reinvocation;
  return Timed(ctx, StepTimings(metrics_), Step::kAdmit, request.operation, [&]() -> Status {
    COX_RETURN_IF_ERROR(MutateOnce(ctx, request, object));
    if (!reinvocation.wanted) return {};
    reinvocation.again = true;
    return MutateOnce(ctx, request, object);
  });
}

Status AdmissionChain::Validate(Context& ctx, const AdmissionRequest& request) const {
  return Timed(ctx, StepTimings(metrics_), Step::kValidate, request.operation, [&]() -> Status {
    for (const Link& link : links_) {
      COX_RETURN_IF_ERROR(Timed(ctx, link.timings.get(), Step::kValidate, request.operation,
                                [&] { return link.plugin->Validate(ctx, request); }));
    }
    return {};
  });
}

}  // namespace cox::apiserver
