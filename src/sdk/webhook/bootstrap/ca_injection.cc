// SPDX-License-Identifier: Apache-2.0
#include "sdk/webhook/bootstrap/ca_injection.h"

#include <algorithm>
#include <utility>

#include "api/apiextensions/v1.h"
#include "base/log.h"
#include "object/codec/json/json.h"

namespace cox::sdk {
namespace {

using admissionregistration::v1::MutatingWebhookConfiguration;
using admissionregistration::v1::ValidatingWebhookConfiguration;
using apiextensions::v1::CustomResourceDefinition;

constexpr char kFieldManager[] = "coxswain-webhook";

Value Step(std::string_view op, std::string path, Value value) {
  return Value::MakeObject({{"op", op}, {"path", path}, {"value", std::move(value)}});
}

// The JSON form of the bytes.
Value Encoded(const std::string& bundle) {
  admissionregistration::v1::WebhookClientConfig config;
  config.caBundle = bundle;
  return *json::ToValue(config).Find("caBundle");
}

// The JSON Patch operations that add the CA where it is missing.
template <class Configuration>
Value::Array StepsFor(const Configuration& configuration, const std::string& bundle) {
  Value::Array steps;
  for (size_t i = 0; i < configuration.webhooks.size(); ++i) {
    if (configuration.webhooks[i].clientConfig.caBundle == bundle) continue;
    steps.push_back(
        Step("add", "/webhooks/" + std::to_string(i) + "/clientConfig/caBundle", Encoded(bundle)));
  }
  return steps;
}

Value::Array StepsFor(const CustomResourceDefinition& crd, const std::string& bundle) {
  Value::Array steps;
  if (!crd.spec.conversion || !crd.spec.conversion->webhook) return steps;
  const auto& config = crd.spec.conversion->webhook->clientConfig;
  if (!config || config->caBundle == bundle) return steps;
  steps.push_back(Step("add", "/spec/conversion/webhook/clientConfig/caBundle", Encoded(bundle)));
  return steps;
}

template <class T>
Status InjectInto(Context& ctx, Client& client, const std::string& name,
                  const std::string& bundle) {
  const ObjectKey key{"", name};
  const Result<T> object = client.Get<T>(ctx, key);
  if (object.status().Is(Reason::kNotFound)) return {};
  if (!object.ok()) return object.status();
  Value::Array steps = StepsFor(*object, bundle);
  if (steps.empty()) return {};
  // The indices are valid only for this version of the object.
  steps.insert(steps.begin(),
               Step("test", "/metadata/resourceVersion", object->metadata.resourceVersion));
  const Result<T> patched =
      client.PatchObject<T>(ctx, key, Patch::Json(json::Write(Value(std::move(steps)))),
                            {.field_manager = kFieldManager});
  if (patched.status().Is(Reason::kNotFound)) return {};
  if (!patched.ok()) return patched.status();
  COX_INFO(ctx.log(), "Injected CA", {"kind", std::string(T::kKind.kind)}, {"name", name});
  return {};
}

// True if `there` contains everything in `wanted`; it may contain more.
bool Includes(const Value& there, const Value& wanted) {
  if (wanted.is_object() && there.is_object()) {
    return std::all_of(wanted.as_object().begin(), wanted.as_object().end(),
                       [&there](const ValueObject::Member& member) {
                         const Value* same = there.Find(member.key);
                         return same != nullptr && Includes(*same, member.value);
                       });
  }
  if (wanted.is_array() && there.is_array()) {
    return std::equal(there.as_array().begin(), there.as_array().end(), wanted.as_array().begin(),
                      wanted.as_array().end(), Includes);
  }
  return there == wanted;
}

template <class T>
Status ApplyOwn(Context& ctx, Client& client, T configuration, const std::string& bundle) {
  for (auto& webhook : configuration.webhooks) webhook.clientConfig.caBundle = bundle;
  const std::string name = configuration.metadata.name;
  const ApplyConfiguration<T> wanted(std::move(configuration));
  // Skip an apply that changes nothing: some servers store it as a write, and each write triggers a
  // check in all replicas.
  const Result<T> there = client.Get<T>(ctx, {"", name});
  if (!there.ok() && !there.status().Is(Reason::kNotFound)) return there.status();
  if (there.ok() && Includes(Object::Of(*there).ToValue(), wanted.ToValue())) return {};
  COX_RETURN_IF_ERROR(
      client.Apply(ctx, wanted, {.field_manager = kFieldManager, .force = true}).status());
  COX_INFO(ctx.log(), "Applied webhook configuration", {"kind", std::string(T::kKind.kind)},
           {"name", name});
  return {};
}

}  // namespace

std::vector<std::pair<Resource, ObjectKey>> CaTargets::Objects() const {
  std::vector<std::pair<Resource, ObjectKey>> objects;
  const auto add = [&objects](Resource resource, const std::string& name) {
    objects.emplace_back(std::move(resource), ObjectKey{"", name});
  };
  for (const auto& name : mutating) add(Resource::Of<MutatingWebhookConfiguration>(), name);
  for (const auto& name : validating) add(Resource::Of<ValidatingWebhookConfiguration>(), name);
  for (const auto& name : crds) add(Resource::Of<CustomResourceDefinition>(), name);
  for (const auto& own : own_mutating) {
    add(Resource::Of<MutatingWebhookConfiguration>(), own.metadata.name);
  }
  for (const auto& own : own_validating) {
    add(Resource::Of<ValidatingWebhookConfiguration>(), own.metadata.name);
  }
  return objects;
}

Status InjectCa(Context& ctx, Client& client, const CaTargets& targets, const std::string& bundle) {
  Status first;
  const auto note = [&first](std::string_view what, const std::string& name, const Status& status) {
    if (first.ok() && !status.ok()) first = status.WithContext(std::string(what) + " " + name);
  };
  for (const std::string& name : targets.mutating) {
    note("MutatingWebhookConfiguration", name,
         InjectInto<MutatingWebhookConfiguration>(ctx, client, name, bundle));
  }
  for (const std::string& name : targets.validating) {
    note("ValidatingWebhookConfiguration", name,
         InjectInto<ValidatingWebhookConfiguration>(ctx, client, name, bundle));
  }
  for (const std::string& name : targets.crds) {
    note("CustomResourceDefinition", name,
         InjectInto<CustomResourceDefinition>(ctx, client, name, bundle));
  }
  for (const auto& own : targets.own_mutating) {
    note("MutatingWebhookConfiguration", own.metadata.name, ApplyOwn(ctx, client, own, bundle));
  }
  for (const auto& own : targets.own_validating) {
    note("ValidatingWebhookConfiguration", own.metadata.name, ApplyOwn(ctx, client, own, bundle));
  }
  return first;
}

}  // namespace cox::sdk
