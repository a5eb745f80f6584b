// SPDX-License-Identifier: Apache-2.0
#include "kubelet/environment/environment.h"

#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "kubelet/environment/expand.h"

namespace cox::kubelet {

using core::v1::EnvFromSource;
using core::v1::EnvVar;

namespace {

// Printable ASCII without '=', as the API validates names.
bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '=';
  });
}

class Builder {
 public:
  Builder(Context& ctx, const EnvironmentInput& input, ObjectSource& objects)
      : ctx_(ctx), input_(input), ns_(input.pod.metadata.namespace_), objects_(objects) {}

  Result<Environment> Build() {
    AddServices();
    for (const EnvFromSource& from : input_.container.envFrom) {
      COX_RETURN_IF_ERROR(AddFrom(from));
    }
    for (const EnvVar& var : input_.container.env) COX_RETURN_IF_ERROR(AddVariable(var));
    return std::move(environment_);
  }

 private:
  void AddServices() {
    const bool links = input_.pod.spec.enableServiceLinks.value_or(true);
    std::vector<std::shared_ptr<const core::v1::Service>> services;
    bool own_kubernetes = false;
    for (const auto& service : input_.services) {
      const bool kubernetes =
          service->metadata.namespace_ == "default" && service->metadata.name == "kubernetes";
      const bool own = links && service->metadata.namespace_ == ns_;
      own_kubernetes |= own && service->metadata.name == "kubernetes";
      if (own || kubernetes) services.push_back(service);
    }
    // A service named "kubernetes" in the Pod's namespace takes precedence over default/kubernetes.
    if (own_kubernetes && ns_ != "default") {
      std::erase_if(services, [this](const auto& service) {
        return service->metadata.name == "kubernetes" && service->metadata.namespace_ != ns_;
      });
    }
    for (auto& [name, value] : ServiceEnvironment(services)) Set(name, std::move(value));
  }

  void Set(const std::string& name, std::string value) {
    auto& variables = environment_.variables;
    const auto [at, is_new] = places_.emplace(name, variables.size());
    if (is_new) {
      variables.emplace_back(name, std::move(value));
    } else {
      variables[at->second].second = std::move(value);
    }
  }

  void AddAll(const std::string& prefix, const Map<std::string>& data) {
    for (const auto& [key, value] : data) {
      const std::string name = prefix + key;
      if (IsName(name)) {
        Set(name, value);
      } else {
        environment_.skipped.push_back(key);
      }
    }
  }

  Status AddFrom(const EnvFromSource& from) {
    if (from.configMapRef) {
      auto map = objects_.GetConfigMap(ctx_, {ns_, from.configMapRef->localObjectReference.name});
      if (map.ok()) {
        AddAll(from.prefix, (*map)->data);
      } else if (!Excused(map.status(), from.configMapRef->optional)) {
        return map.status();
      }
    }
    if (from.secretRef) {
      auto secret = objects_.GetSecret(ctx_, {ns_, from.secretRef->localObjectReference.name});
      if (secret.ok()) {
        AddAll(from.prefix, (*secret)->data);
      } else if (!Excused(secret.status(), from.secretRef->optional)) {
        return secret.status();
      }
    }
    return {};
  }
  static bool Excused(const Status& status, const std::optional<bool>& optional) {
    return optional.value_or(false) && status.Is(Reason::kNotFound);
  }

  Status AddVariable(const EnvVar& var) {
    if (!var.valueFrom) {
      Set(var.name, Expand(var.value, [this](std::string_view name) {
            const std::string* found = environment_.Find(name);
            return found == nullptr ? std::nullopt : std::optional(*found);
          }));
      return {};
    }
    COX_ASSIGN_OR_RETURN(std::optional<std::string> value, ValueFrom(*var.valueFrom));
    if (value) Set(var.name, std::move(*value));
    return {};
  }

  // None if an optional source does not exist.
  Result<std::optional<std::string>> ValueFrom(const core::v1::EnvVarSource& source) {
    if (source.fieldRef) {
      COX_ASSIGN_OR_RETURN(std::string value,
                           FieldValue(input_.pod, source.fieldRef->fieldPath, input_.facts));
      return std::optional(std::move(value));
    }
    if (source.resourceFieldRef) {
      COX_ASSIGN_OR_RETURN(std::string value,
                           ResourceFieldValue(input_.pod, *source.resourceFieldRef,
                                              input_.container.name, input_.facts));
      return std::optional(std::move(value));
    }
    if (source.configMapKeyRef) {
      const auto& ref = *source.configMapKeyRef;
      auto map = objects_.GetConfigMap(ctx_, {ns_, ref.localObjectReference.name});
      if (!map.ok()) return Missing(map.status(), ref.optional);
      return Key((*map)->data, "ConfigMap", ref.localObjectReference.name, ref.key, ref.optional);
    }
    if (source.secretKeyRef) {
      const auto& ref = *source.secretKeyRef;
      auto secret = objects_.GetSecret(ctx_, {ns_, ref.localObjectReference.name});
      if (!secret.ok()) return Missing(secret.status(), ref.optional);
      return Key((*secret)->data, "Secret", ref.localObjectReference.name, ref.key, ref.optional);
    }
    return Status::BadRequest(
        "an environment variable has a source that this node does not know (fileKeyRef): use a "
        "config map or a secret");
  }
  static Result<std::optional<std::string>> Missing(const Status& status,
                                                    const std::optional<bool>& optional) {
    if (Excused(status, optional)) return std::optional<std::string>();
    return status;
  }
  Result<std::optional<std::string>> Key(const Map<std::string>& data, const std::string& kind,
                                         const std::string& name, const std::string& key,
                                         const std::optional<bool>& optional) const {
    if (const std::string* found = data.Get(key)) return std::optional(*found);
    if (optional.value_or(false)) return std::optional<std::string>();
    return Status::BadRequest("couldn't find key " + key + " in " + kind + " " + ns_ + "/" + name);
  }

  Context& ctx_;
  const EnvironmentInput& input_;
  const std::string& ns_;
  ObjectSource& objects_;
  Environment environment_;
  // Index by name: a namespace with thousands of services has tens of thousands of variables.
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace

const std::string* Environment::Find(std::string_view name) const {
  for (const auto& [key, value] : variables) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<Environment> MakeEnvironment(Context& ctx, const EnvironmentInput& input,
                                    ObjectSource& objects) {
  return Builder(ctx, input, objects).Build();
}

List<std::string> ExpandWords(const List<std::string>& words, const Environment& environment) {
  List<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    out.push_back(Expand(word, [&environment](std::string_view name) {
      const std::string* found = environment.Find(name);
      return found == nullptr ? std::nullopt : std::optional(*found);
    }));
  }
  return out;
}

Result<std::string> ExpandPath(const std::string& text, const Environment& environment) {
  std::string missing;
  std::string out = Expand(text, [&](std::string_view name) -> std::optional<std::string> {
    const std::string* found = environment.Find(name);
    if (found != nullptr) return *found;
    if (missing.empty()) missing = name;
    return std::nullopt;
  });
  if (!missing.empty()) {
    return Status::BadRequest("missing value for " + Quote(missing) + " in subPathExpr " +
                              Quote(text));
  }
  return out;
}

}  // namespace cox::kubelet
