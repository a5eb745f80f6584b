// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "object/validation/object_meta.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::HTTPGetAction;
using core::v1::Probe;

// The action of a probe or a lifecycle hook: the union of both handler types.
struct Handler {
  const core::v1::ExecAction* exec = nullptr;
  const HTTPGetAction* http_get = nullptr;
  const core::v1::TCPSocketAction* tcp_socket = nullptr;
  const core::v1::GRPCAction* grpc = nullptr;
  const core::v1::SleepAction* sleep = nullptr;
};

FieldErrorList CheckPort(const IntOrString& port, const FieldPath& path) {
  FieldErrorList errors;
  if (port.is_string()) {
    AddInvalid(errors, path, port.string_value(), validation::IsValidPortName(port.string_value()));
    return errors;
  }
  for (std::string& message : validation::IsValidPortNum(port.int_value()))
    errors.push_back(FieldError::Invalid(path, port.int_value(), std::move(message)));
  return errors;
}

FieldErrorList CheckHttpGet(const HTTPGetAction& action, const FieldPath& path) {
  FieldErrorList errors;
  CheckRequired(errors, action.path, path.Child("path"));
  Append(errors, CheckPort(action.port, path.Child("port")));
  if (action.scheme != "HTTP" && action.scheme != "HTTPS") {
    errors.push_back(
        FieldError::NotSupported(path.Child("scheme"), action.scheme, {"HTTP", "HTTPS"}));
  }
  for (const core::v1::HTTPHeader& header : action.httpHeaders) {
    AddInvalid(errors, path.Child("httpHeaders"), header.name,
               validation::IsHTTPHeaderName(header.name));
  }
  return errors;
}

FieldErrorList CheckSleep(const core::v1::SleepAction& action, const PodView& view,
                          const FieldPath& path) {
  if (!view.grace_period) return {};
  if (action.seconds >= 0 && action.seconds <= *view.grace_period) return {};
  return {FieldError::Invalid(path, action.seconds,
                              "must be non-negative and less than terminationGracePeriodSeconds (" +
                                  std::to_string(*view.grace_period) + ")")};
}

FieldErrorList CheckHandler(const Handler& handler, const PodView& view, const FieldPath& path) {
  FieldErrorList errors;
  int handlers = 0;
  // The second and later handlers are rejected without validation of their fields.
  auto check = [&](std::string_view name, const void* set, auto inside) {
    if (set == nullptr) return;
    if (handlers++ > 0) {
      errors.push_back(
          FieldError::Forbidden(path.Child(name), "may not specify more than 1 handler type"));
    } else {
      Append(errors, inside(path.Child(name)));
    }
  };
  check("exec", handler.exec, [&](const FieldPath& at) -> FieldErrorList {
    if (handler.exec->command.empty()) return {FieldError::Required(at.Child("command"))};
    return {};
  });
  check("httpGet", handler.http_get,
        [&](const FieldPath& at) { return CheckHttpGet(*handler.http_get, at); });
  check("tcpSocket", handler.tcp_socket,
        [&](const FieldPath& at) { return CheckPort(handler.tcp_socket->port, at.Child("port")); });
  check("grpc", handler.grpc,
        [&](const FieldPath& at) { return CheckPort(handler.grpc->port, at.Child("port")); });
  check("sleep", handler.sleep,
        [&](const FieldPath& at) { return CheckSleep(*handler.sleep, view, at); });
  if (handlers == 0) errors.push_back(FieldError::Required(path, "must specify a handler type"));
  return errors;
}

FieldErrorList CheckProbe(const Probe& probe, const PodView& view, const FieldPath& path) {
  const core::v1::ProbeHandler& handler = probe.handler;
  FieldErrorList errors = CheckHandler({.exec = handler.exec.get(),
                                        .http_get = handler.httpGet.get(),
                                        .tcp_socket = handler.tcpSocket.get(),
                                        .grpc = handler.grpc.get()},
                                       view, path);
  auto nonnegative = [&](std::string_view name, int64_t value) {
    Append(errors, validation::ValidateNonnegativeField(value, path.Child(name)));
  };
  nonnegative("initialDelaySeconds", probe.initialDelaySeconds);
  nonnegative("timeoutSeconds", probe.timeoutSeconds);
  nonnegative("periodSeconds", probe.periodSeconds);
  nonnegative("successThreshold", probe.successThreshold);
  nonnegative("failureThreshold", probe.failureThreshold);
  if (probe.terminationGracePeriodSeconds && *probe.terminationGracePeriodSeconds <= 0) {
    errors.push_back(FieldError::Invalid(path.Child("terminationGracePeriodSeconds"),
                                         *probe.terminationGracePeriodSeconds,
                                         "must be greater than 0"));
  }
  return errors;
}

// Liveness and startup probes must have a success threshold of 1.
FieldErrorList CheckSingleSuccessProbe(const Probe* probe, const PodView& view,
                                       const FieldPath& path) {
  if (probe == nullptr) return {};
  FieldErrorList errors = CheckProbe(*probe, view, path);
  if (probe->successThreshold != 1) {
    errors.push_back(
        FieldError::Invalid(path.Child("successThreshold"), probe->successThreshold, "must be 1"));
  }
  return errors;
}

FieldErrorList CheckHook(const core::v1::LifecycleHandler* hook, const PodView& view,
                         const FieldPath& path) {
  if (hook == nullptr) return {};
  return CheckHandler({.exec = hook->exec.get(),
                       .http_get = hook->httpGet.get(),
                       .tcp_socket = hook->tcpSocket.get(),
                       .sleep = hook->sleep.get()},
                      view, path);
}

}  // namespace

FieldErrorList CheckLivenessProbe(const Probe* probe, const PodView& view, const FieldPath& path) {
  return CheckSingleSuccessProbe(probe, view, path);
}

FieldErrorList CheckStartupProbe(const Probe* probe, const PodView& view, const FieldPath& path) {
  return CheckSingleSuccessProbe(probe, view, path);
}

FieldErrorList CheckReadinessProbe(const Probe* probe, const PodView& view, const FieldPath& path) {
  if (probe == nullptr) return {};
  FieldErrorList errors = CheckProbe(*probe, view, path);
  if (probe->terminationGracePeriodSeconds) {
    errors.push_back(FieldError::Invalid(path.Child("terminationGracePeriodSeconds"),
                                         *probe->terminationGracePeriodSeconds,
                                         "must not be set for readinessProbes"));
  }
  return errors;
}

FieldErrorList CheckLifecycle(const core::v1::Lifecycle* lifecycle, const PodView& view,
                              const FieldPath& path) {
  if (lifecycle == nullptr) return {};
  FieldErrorList errors = CheckHook(lifecycle->postStart.get(), view, path.Child("postStart"));
  Append(errors, CheckHook(lifecycle->preStop.get(), view, path.Child("preStop")));
  return errors;
}

}  // namespace cox::apiserver::pod
