// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/payload/payload.h"

#include <algorithm>
#include <optional>

#include "kubelet/pod/containers.h"

namespace cox::kubelet {

using core::v1::KeyToPath;
using core::v1::Pod;

namespace {

constexpr int32_t kDefaultMode = 0644;
constexpr int64_t kDefaultTokenSeconds = 3600;

// The user of all containers, if it is the same: then only that user may read the token.
std::optional<uid_t> CommonUser(const Pod& pod) {
  std::optional<int64_t> common;
  if (pod.spec.securityContext) common = pod.spec.securityContext->runAsUser;
  std::optional<int64_t> all;
  bool agree = true;
  bool first = true;
  ForEachContainer(pod, [&](const core::v1::Container& container, ContainerKind kind) {
    if (kind == ContainerKind::kEphemeral) return;
    std::optional<int64_t> own = common;
    if (container.securityContext && container.securityContext->runAsUser) {
      own = container.securityContext->runAsUser;
    }
    agree &= own.has_value() && (first || own == all);
    all = own;
    first = false;
  });
  if (!agree || !all) return std::nullopt;
  return static_cast<uid_t>(*all);
}

class Collection {
 public:
  Collection(Context& ctx, const Pod& pod, const PayloadSources& sources, int32_t default_mode)
      : ctx_(ctx), pod_(pod), sources_(sources), default_mode_(default_mode) {}

  Status ConfigMap(const std::string& name, const List<KeyToPath>& items, bool optional) {
    auto map = sources_.objects.GetConfigMap(ctx_, {pod_.metadata.namespace_, name});
    if (!map.ok()) {
      return optional && map.status().Is(Reason::kNotFound) ? Status() : map.status();
    }
    Map<std::string> all = (*map)->data;
    for (const auto& [key, value] : (*map)->binaryData) all[key] = value;
    return Keys(all, items, optional, "configmap references non-existent config key: ");
  }

  Status Secret(const std::string& name, const List<KeyToPath>& items, bool optional) {
    auto secret = sources_.objects.GetSecret(ctx_, {pod_.metadata.namespace_, name});
    if (!secret.ok()) {
      return optional && secret.status().Is(Reason::kNotFound) ? Status() : secret.status();
    }
    return Keys((*secret)->data, items, optional, "references non-existent secret key: ");
  }

  Status DownwardApi(const List<core::v1::DownwardAPIVolumeFile>& items) {
    for (const core::v1::DownwardAPIVolumeFile& item : items) {
      std::string value;
      if (item.fieldRef) {
        COX_ASSIGN_OR_RETURN(value, FieldValue(pod_, item.fieldRef->fieldPath, sources_.facts));
      } else if (item.resourceFieldRef) {
        COX_ASSIGN_OR_RETURN(value,
                             ResourceFieldValue(pod_, *item.resourceFieldRef, "", sources_.facts));
      }
      Add(item.path, std::move(value), item.mode);
    }
    return {};
  }

  Status ServiceAccountToken(const core::v1::ServiceAccountTokenProjection& source) {
    COX_ASSIGN_OR_RETURN(
        Token token, sources_.tokens.Get(ctx_, pod_, source.audience,
                                         source.expirationSeconds.value_or(kDefaultTokenSeconds)));
    result_.refresh = std::min(result_.refresh.value_or(token.refresh), token.refresh);
    const std::optional<uid_t> user = CommonUser(pod_);
    const bool has_group = pod_.spec.securityContext && pod_.spec.securityContext->fsGroup;
    FileContent& file = result_.files[source.path];
    file.data = std::move(token.token);
    file.mode = user || has_group ? 0600 : static_cast<mode_t>(default_mode_);
    file.owner = user;
    return {};
  }

  Status Projected(const core::v1::ProjectedVolumeSource& projected) {
    for (const core::v1::VolumeProjection& source : projected.sources) {
      if (source.configMap) {
        COX_RETURN_IF_ERROR(ConfigMap(source.configMap->localObjectReference.name,
                                      source.configMap->items,
                                      source.configMap->optional.value_or(false)));
      } else if (source.secret) {
        COX_RETURN_IF_ERROR(Secret(source.secret->localObjectReference.name, source.secret->items,
                                   source.secret->optional.value_or(false)));
      } else if (source.downwardAPI) {
        COX_RETURN_IF_ERROR(DownwardApi(source.downwardAPI->items));
      } else if (source.serviceAccountToken) {
        COX_RETURN_IF_ERROR(ServiceAccountToken(*source.serviceAccountToken));
      } else {
        return Status::BadRequest(
            "a projected source is of a kind that this node does not know; use configMap, secret, "
            "downwardAPI or serviceAccountToken");
      }
    }
    return {};
  }

  VolumePayload Take() { return std::move(result_); }

 private:
  void Add(const std::string& path, std::string data, const std::optional<int32_t>& mode) {
    result_.files[path] = {.data = std::move(data),
                           .mode = static_cast<mode_t>(mode.value_or(default_mode_)),
                           .owner = {}};
  }

  Status Keys(const Map<std::string>& data, const List<KeyToPath>& items, bool optional,
              std::string_view missing) {
    if (items.empty()) {
      for (const auto& [key, value] : data) Add(key, value, std::nullopt);
    }
    for (const KeyToPath& item : items) {
      const std::string* value = data.Get(item.key);
      if (value != nullptr) {
        Add(item.path, *value, item.mode);
      } else if (!optional) {
        return Status::BadRequest(std::string(missing) + item.key);
      }
    }
    return {};
  }

  Context& ctx_;
  const Pod& pod_;
  const PayloadSources& sources_;
  const int32_t default_mode_;
  VolumePayload result_;
};

}  // namespace

Result<VolumePayload> CollectPayload(Context& ctx, const Pod& pod,
                                     const core::v1::VolumeSource& volume,
                                     const PayloadSources& sources) {
  if (volume.configMap) {
    Collection files(ctx, pod, sources, volume.configMap->defaultMode.value_or(kDefaultMode));
    COX_RETURN_IF_ERROR(files.ConfigMap(volume.configMap->localObjectReference.name,
                                        volume.configMap->items,
                                        volume.configMap->optional.value_or(false)));
    return files.Take();
  }
  if (volume.secret) {
    Collection files(ctx, pod, sources, volume.secret->defaultMode.value_or(kDefaultMode));
    COX_RETURN_IF_ERROR(files.Secret(volume.secret->secretName, volume.secret->items,
                                     volume.secret->optional.value_or(false)));
    return files.Take();
  }
  if (volume.downwardAPI) {
    Collection files(ctx, pod, sources, volume.downwardAPI->defaultMode.value_or(kDefaultMode));
    COX_RETURN_IF_ERROR(files.DownwardApi(volume.downwardAPI->items));
    return files.Take();
  }
  if (!volume.projected) return Status::Internal("not a volume with files of the API");
  Collection files(ctx, pod, sources, volume.projected->defaultMode.value_or(kDefaultMode));
  COX_RETURN_IF_ERROR(files.Projected(*volume.projected));
  return files.Take();
}

}  // namespace cox::kubelet
