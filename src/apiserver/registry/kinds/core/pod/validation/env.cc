// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/checks.h"
#include "base/strings.h"

namespace cox::apiserver::pod {
namespace {

using core::v1::EnvVar;
using core::v1::EnvVarSource;
using core::v1::FileKeySelector;

// Fields that variables can refer to, sorted as in the error.
constexpr std::string_view kEnvFields[] = {
    "metadata.name",           "metadata.namespace", "metadata.uid",   "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP",      "status.hostIPs", "status.podIP",
    "status.podIPs",
};

// All fields that the downward API supports anywhere.
constexpr std::string_view kKnownFields[] = {
    "metadata.annotations", "metadata.labels",    "metadata.name",
    "metadata.namespace",   "metadata.uid",       "spec.nodeName",
    "spec.restartPolicy",   "spec.schedulerName", "spec.serviceAccountName",
    "status.hostIP",        "status.hostIPs",     "status.phase",
    "status.podIP",         "status.podIPs",
};

constexpr std::string_view kResourceFields[] = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory",
};

bool Contains(std::span<const std::string_view> list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// metadata.labels['app'] -> {metadata.labels, app}.
struct Subscripted {
  std::string_view path;
  std::string_view subscript;
};
std::optional<Subscripted> SplitSubscript(std::string_view path) {
  constexpr std::string_view kOpen = "['", kClose = "']";
  if (!path.ends_with(kClose)) return std::nullopt;
  std::string_view rest = path.substr(0, path.size() - kClose.size());
  size_t open = rest.find(kOpen);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  return Subscripted{rest.substr(0, open), rest.substr(open + kOpen.size())};
}

FieldErrorList CheckSubscript(const Subscripted& field, const FieldPath& path) {
  FieldErrorList errors;
  if (field.path == "metadata.annotations") {
    std::string lower(field.subscript);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    AddInvalid(errors, path, field.subscript, validation::IsQualifiedName(lower));
  } else if (field.path == "metadata.labels") {
    AddInvalid(errors, path, field.subscript, validation::IsQualifiedName(field.subscript));
  } else {
    errors.push_back(FieldError::Invalid(path, field.path, "does not support subscript"));
  }
  return errors;
}

// Divisors are compared as text, because quantities are normalized: 1000m is written as 1.
FieldErrorList CheckDivisor(std::string_view resource, const Quantity& divisor,
                            const FieldPath& path) {
  if (divisor.IsZero()) return {};
  constexpr std::string_view kBytes[] = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                         "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  constexpr std::string_view kByteRule =
      "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported "
      "with the ";
  std::string text = divisor.ToString();
  std::string_view name = resource.substr(resource.find('.') + 1);
  if (name == "cpu") {
    if (text == "1" || text == "1m") return {};
    return {FieldError::Invalid(
        path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")};
  }
  std::string_view what = name == "memory"              ? "memory resource"
                          : name == "ephemeral-storage" ? "local ephemeral storage resource"
                                                        : "hugepages resource";
  if (Contains(kBytes, text)) return {};
  return {FieldError::Invalid(path, resource, std::string(kByteRule) + std::string(what))};
}

FieldErrorList CheckKeyRef(std::string_view name, std::string_view key, const FieldPath& path) {
  FieldErrorList errors = CheckDnsSubdomain(name, path.Child("name"));
  if (key.empty()) {
    errors.push_back(FieldError::Required(path.Child("key")));
  } else {
    AddInvalid(errors, path.Child("key"), key, validation::IsConfigMapKey(key));
  }
  return errors;
}

FieldErrorList CheckFileKeyRef(const FileKeySelector& file, const FieldPath& path) {
  FieldErrorList errors;
  if (file.key.empty()) {
    errors.push_back(FieldError::Required(path.Child("key")));
  } else {
    AddInvalid(errors, path.Child("key"), file.key, validation::IsRelaxedEnvVarName(file.key));
  }
  if (file.volumeName.empty()) {
    errors.push_back(FieldError::Required(path.Child("volumeName")));
  } else {
    Append(errors, CheckDnsLabel(file.volumeName, path.Child("volumeName")));
  }
  if (file.path.empty()) {
    errors.push_back(FieldError::Required(path.Child("path")));
  } else {
    Append(errors, CheckLocalNonReservedPath(file.path, path.Child("path")));
  }
  return errors;
}

FieldErrorList CheckValueFrom(const EnvVar& var, const FieldPath& path) {
  if (!var.valueFrom) return {};
  const EnvVarSource& from = *var.valueFrom;
  FieldErrorList errors;
  int sources = 0;
  if (from.fieldRef) {
    ++sources;
    Append(errors, CheckObjectFieldSelector(*from.fieldRef, kEnvFields, path.Child("fieldRef")));
  }
  if (from.resourceFieldRef) {
    ++sources;
    Append(errors, CheckResourceFieldSelector(*from.resourceFieldRef, /*in_volume=*/false,
                                              path.Child("resourceFieldRef")));
  }
  if (from.configMapKeyRef) {
    ++sources;
    Append(errors, CheckKeyRef(from.configMapKeyRef->localObjectReference.name,
                               from.configMapKeyRef->key, path.Child("configMapKeyRef")));
  }
  if (from.secretKeyRef) {
    ++sources;
    Append(errors, CheckKeyRef(from.secretKeyRef->localObjectReference.name, from.secretKeyRef->key,
                               path.Child("secretKeyRef")));
  }
  if (from.fileKeyRef) {
    ++sources;
    Append(errors, CheckFileKeyRef(*from.fileKeyRef, path.Child("fileKeyRef")));
  }
  if (sources == 0) {
    errors.push_back(FieldError::Invalid(
        path, "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
        "`fileKeyRef`"));
  } else if (!var.value.empty()) {
    errors.push_back(
        FieldError::Invalid(path, "", "may not be specified when `value` is not empty"));
  } else if (sources > 1) {
    errors.push_back(
        FieldError::Invalid(path, "", "may not have more than one field specified at a time"));
  }
  return errors;
}

FieldErrorList CheckEnvSourceName(std::string_view name, const FieldPath& path) {
  if (name.empty()) return {FieldError::Required(path)};
  return CheckDnsSubdomain(name, path);
}

}  // namespace

FieldErrorList CheckObjectFieldSelector(const core::v1::ObjectFieldSelector& selector,
                                        std::span<const std::string_view> fields,
                                        const FieldPath& path) {
  if (selector.apiVersion.empty()) return {FieldError::Required(path.Child("apiVersion"))};
  const FieldPath field_path = path.Child("fieldPath");
  std::string_view field = selector.fieldPath;
  if (field.empty()) return {FieldError::Required(field_path)};
  std::optional<Subscripted> subscripted = SplitSubscript(field);
  std::string failure;
  if (selector.apiVersion != "v1") {
    failure = "unsupported pod version: " + selector.apiVersion;
  } else if (field == "spec.host") {
    field = "spec.nodeName";
  } else if (!Contains(kKnownFields, subscripted ? subscripted->path : field)) {
    failure = "field label not supported: " + selector.fieldPath;
  }
  if (!failure.empty()) {
    return {FieldError::Invalid(field_path, selector.fieldPath,
                                "error converting fieldPath: " + failure)};
  }
  if (subscripted) return CheckSubscript(*subscripted, path);
  if (!Contains(fields, field)) return {FieldError::NotSupported(field_path, field, fields)};
  return {};
}

FieldErrorList CheckResourceFieldSelector(const core::v1::ResourceFieldSelector& selector,
                                          bool in_volume, const FieldPath& path) {
  if (in_volume && selector.containerName.empty())
    return {FieldError::Required(path.Child("containerName"))};
  std::string_view resource = selector.resource;
  if (resource.empty()) return {FieldError::Required(path.Child("resource"))};
  if (!Contains(kResourceFields, resource) && !resource.starts_with("limits.hugepages-") &&
      !resource.starts_with("requests.hugepages-")) {
    return {FieldError::NotSupported(path.Child("resource"), resource, kResourceFields)};
  }
  return CheckDivisor(resource, selector.divisor, path.Child("divisor"));
}

FieldErrorList CheckEnv(const List<EnvVar>& env, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < env.size(); ++i) {
    const FieldPath at = path.Index(i);
    if (env[i].name.empty()) {
      errors.push_back(FieldError::Required(at.Child("name")));
    } else {
      AddInvalid(errors, at.Child("name"), env[i].name,
                 validation::IsRelaxedEnvVarName(env[i].name));
    }
    Append(errors, CheckValueFrom(env[i], at.Child("valueFrom")));
  }
  return errors;
}

FieldErrorList CheckEnvFrom(const List<core::v1::EnvFromSource>& sources, const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < sources.size(); ++i) {
    const core::v1::EnvFromSource& source = sources[i];
    const FieldPath at = path.Index(i);
    if (!source.prefix.empty()) {
      AddInvalid(errors, at.Child("prefix"), source.prefix,
                 validation::IsRelaxedEnvVarName(source.prefix));
    }
    if (source.configMapRef) {
      Append(errors, CheckEnvSourceName(source.configMapRef->localObjectReference.name,
                                        at.Child("configMapRef").Child("name")));
    }
    if (source.secretRef) {
      Append(errors, CheckEnvSourceName(source.secretRef->localObjectReference.name,
                                        at.Child("secretRef").Child("name")));
    }
    // These two errors are at the list, not at the item.
    if (!source.configMapRef && !source.secretRef) {
      errors.push_back(
          FieldError::Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (source.configMapRef && source.secretRef) {
      errors.push_back(
          FieldError::Invalid(path, "", "may not have more than one field specified at a time"));
    }
  }
  return errors;
}

FieldErrorList CheckEnvFileVolumes(const List<EnvVar>& env, const List<Volume>& volumes,
                                   const FieldPath& path) {
  FieldErrorList errors;
  for (size_t i = 0; i < env.size(); ++i) {
    if (!env[i].valueFrom || !env[i].valueFrom->fileKeyRef) continue;
    const std::string& name = env[i].valueFrom->fileKeyRef->volumeName;
    const FieldPath at = path.Index(i).Child("valueFrom").Child("fileKeyRef").Child("volumeName");
    auto volume = std::find_if(volumes.begin(), volumes.end(),
                               [&](const Volume& v) { return v.name == name; });
    if (volume == volumes.end()) {
      errors.push_back(FieldError::NotFound(at, name));
    } else if (!volume->volumeSource.emptyDir) {
      errors.push_back(FieldError::Invalid(at, name, "referenced volume must be of type emptyDir"));
    }
  }
  return errors;
}

}  // namespace cox::apiserver::pod
