// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <string>

#include "api/networking/v1.h"
#include "apiserver/registry/kinds/networking/ingress_validation.h"
#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/registry/store/spec_and_status.h"
#include "object/type/equal.h"

namespace cox::apiserver {
namespace {

using networking::v1::Ingress;

// The annotation that preceded spec.ingressClassName; controllers still support it.
constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";

// Up to three hosts: "a.example.com,b.example.com,c.example.com + 2 more...".
std::string FormatHosts(const Ingress& ingress) {
  constexpr size_t kShown = 3;
  std::string text;
  size_t count = 0;
  for (const auto& rule : ingress.spec.rules) {
    if (rule.host.empty()) continue;
    if (count < kShown) text += (count == 0 ? "" : ",") + rule.host;
    ++count;
  }
  if (count == 0) return "*";
  if (count > kShown) text += " + " + std::to_string(count - kShown) + " more...";
  return text;
}

std::string FormatAddresses(const Ingress& ingress) {
  std::set<std::string> addresses;
  for (const auto& i : ingress.status.loadBalancer.ingress) {
    const std::string& address = i.ip.empty() ? i.hostname : i.ip;
    if (!address.empty()) addresses.insert(address);
  }
  std::string text;
  for (const std::string& address : addresses) text += (text.empty() ? "" : ",") + address;
  return text;
}

class IngressStatusStrategy final : public PlainStatusStrategy<Ingress> {
 protected:
  FieldErrorList CheckUpdate(const WriteContext&, const Ingress& object,
                             const Ingress& old) const override {
    return ValidateIngressStatus(object.status, &old.status, FieldPath("status"));
  }
};

class IngressStrategy final : public SpecAndStatusStrategy<Ingress, IngressStatusStrategy> {
 public:
  std::string_view storage_prefix() const override { return "ingress"; }

  std::span<const Column> Columns() const override {
    static constexpr Column kColumns[] = {
        kNameColumn,
        {.name = "Class", .type = "string"},
        {.name = "Hosts", .type = "string"},
        {.name = "Address", .type = "string"},
        {.name = "Ports", .type = "string"},
        kAgeColumn,
    };
    return kColumns;
  }

 protected:
  FieldErrorList Check(const WriteContext&, const Ingress& object) const override {
    FieldErrorList errors = ValidateIngressSpec(object.spec, FieldPath("spec"), {});
    const std::string* annotation = object.metadata.annotations.Get(kClassAnnotation);
    if (annotation != nullptr && object.spec.ingressClassName &&
        *annotation != *object.spec.ingressClassName) {
      errors.push_back(
          FieldError::Invalid(FieldPath("annotations").Child(kClassAnnotation), *annotation,
                              "must match `ingressClassName` when both are specified"));
    }
    return errors;
  }
  FieldErrorList CheckUpdate(const WriteContext&, const Ingress& object,
                             const Ingress& old) const override {
    return ValidateIngressSpec(object.spec, FieldPath("spec"), IngressOptionsFor(old));
  }
  Warnings Warn(const WriteContext&, const Ingress& object, const Ingress* old) const override {
    if (old != nullptr || !object.metadata.annotations.contains(kClassAnnotation)) return {};
    return {"annotation \"" + std::string(kClassAnnotation) +
            "\" is deprecated, please use 'spec.ingressClassName' instead"};
  }
  Cells RowOf(const Ingress& object, const Time& now) const override {
    return {object.metadata.name,
            object.spec.ingressClassName.value_or("<none>"),
            FormatHosts(object),
            FormatAddresses(object),
            object.spec.tls.empty() ? "80" : "80, 443",
            Age(object.metadata.creationTimestamp, now)};
  }
};

}  // namespace

StrategyPtr NewIngressStrategy() { return std::make_unique<IngressStrategy>(); }

}  // namespace cox::apiserver
