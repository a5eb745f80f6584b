// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/warnings.h"

#include <set>
#include <string_view>
#include <utility>

#include "apiserver/registry/kinds/core/pod/validation/annotations.h"
#include "apiserver/registry/kinds/core/pod/validation/pod_validation.h"
#include "base/strings.h"
#include "object/validation/ip.h"
#include "object/validation/names.h"

namespace cox::apiserver {
namespace {

using core::v1::Container;
using core::v1::ContainerPort;
using core::v1::PodSpec;

constexpr const char* kNullSelector = "a null labelSelector results in matching no pod";

// Deprecated node labels.
std::string_view DeprecatedNodeLabel(std::string_view key) {
  static constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
      {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
      {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
      {"failure-domain.beta.kubernetes.io/region",
       "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
      {"failure-domain.beta.kubernetes.io/zone",
       "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
      {"beta.kubernetes.io/instance-type",
       "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
  };
  for (const auto& [label, message] : kLabels)
    if (label == key) return message;
  return {};
}

class PodWarner {
 public:
  explicit PodWarner(const PodSpec& spec, const FieldPath& path) : spec_(spec), path_(path) {}

  void Placement() {
    for (const auto& [key, value] : spec_.nodeSelector) {
      if (std::string_view message = DeprecatedNodeLabel(key); !message.empty())
        Add(path_.Child("nodeSelector").Key(key), message);
    }
    if (spec_.affinity) Affinity(*spec_.affinity, path_.Child("affinity"));
    for (size_t i = 0; i < spec_.topologySpreadConstraints.size(); ++i) {
      const core::v1::TopologySpreadConstraint& constraint = spec_.topologySpreadConstraints[i];
      const FieldPath at = path_.Child("topologySpreadConstraints").Index(i);
      Label(constraint.topologyKey, at.Child("topologyKey"));
      if (!constraint.labelSelector) Add(at.Child("labelSelector"), kNullSelector);
    }
  }

  void Annotations(const meta::v1::ObjectMeta& meta, const FieldPath& path) {
    static constexpr std::pair<std::string_view, std::string_view> kGone[] = {
        {"scheduler.alpha.kubernetes.io/critical-pod",
         "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
        {"security.alpha.kubernetes.io/sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
        {"security.alpha.kubernetes.io/unsafe-sysctls",
         "non-functional in v1.11+; use the \"sysctls\" field instead"},
    };
    constexpr const char* kSeccomp =
        "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    for (const auto& [key, message] : kGone)
      if (meta.annotations.contains(key)) Add(path.Key(key), message);
    const bool pod_profile = spec_.securityContext && spec_.securityContext->seccompProfile;
    if (meta.annotations.contains(pod::kSeccompPodAnnotation) && !pod_profile)
      Add(path.Key(pod::kSeccompPodAnnotation), kSeccomp);
    for (const auto* containers : {&spec_.initContainers, &spec_.containers}) {
      for (const Container& container : *containers) {
        std::string key = std::string(pod::kSeccompContainerPrefix) + container.name;
        const bool own = container.securityContext && container.securityContext->seccompProfile;
        if (meta.annotations.contains(key) && !own) Add(path.Key(key), kSeccomp);
        key = std::string(pod::kAppArmorPrefix) + container.name;
        if (meta.annotations.contains(key)) {
          Add(path.Key(key), "deprecated since v1.30; use the \"appArmorProfile\" field instead");
        }
      }
    }
  }

  void Volumes() {
    for (size_t i = 0; i < spec_.volumes.size(); ++i)
      Volume(spec_.volumes[i].volumeSource, path_.Child("volumes").Index(i));
  }

  void Lists() {
    std::set<std::string_view> ips, secrets;
    for (size_t i = 0; i < spec_.hostAliases.size(); ++i) {
      const std::string& ip = spec_.hostAliases[i].ip;
      if (!ips.insert(ip).second)
        Add(path_.Child("hostAliases").Index(i).Child("ip"), "duplicate ip " + Quote(ip));
    }
    for (size_t i = 0; i < spec_.imagePullSecrets.size(); ++i) {
      const std::string& name = spec_.imagePullSecrets[i].name;
      const FieldPath at = path_.Child("imagePullSecrets").Index(i).Child("name");
      if (name.empty()) {
        Add(at, "invalid empty name \"\"");
      } else if (!secrets.insert(name).second) {
        Add(at, "duplicate name " + Quote(name));
      }
    }
  }

  void Containers() {
    Each(spec_.initContainers, "initContainers", &PodWarner::Container_);
    Each(spec_.containers, "containers", &PodWarner::Container_);
    Amounts(spec_.overhead, path_.Child("overhead"), "memory");
    Amounts(spec_.overhead, path_.Child("overhead"), "ephemeral-storage");
  }

  void GracePeriod() {
    if (spec_.terminationGracePeriodSeconds.value_or(0) >= 0) return;
    Add(path_.Child("terminationGracePeriodSeconds"),
        "must be >= 0; negative values are invalid and will be treated as 1");
  }

  void Ports() { Each(spec_.containers, "containers", &PodWarner::Ports_); }

  void OverlappingPaths();

  void Addresses() {
    for (size_t i = 0; i < spec_.hostAliases.size(); ++i) {
      for (std::string& text : validation::GetWarningsForIP(
               path_.Child("hostAliases").Index(i).Child("ip"), spec_.hostAliases[i].ip))
        warnings_.push_back(std::move(text));
    }
    if (!spec_.dnsConfig) return;
    for (size_t i = 0; i < spec_.dnsConfig->nameservers.size(); ++i) {
      for (std::string& text :
           validation::GetWarningsForIP(path_.Child("dnsConfig").Child("nameservers").Index(i),
                                        spec_.dnsConfig->nameservers[i]))
        warnings_.push_back(std::move(text));
    }
  }

  Warnings Take() { return std::move(warnings_); }

 private:
  void Add(const FieldPath& path, std::string_view text) {
    warnings_.push_back(path.ToString() + ": " + std::string(text));
  }

  void Label(std::string_view key, const FieldPath& path) {
    if (std::string_view message = DeprecatedNodeLabel(key); !message.empty())
      Add(path, std::string(key) + " is " + std::string(message));
  }

  void NodeTerm(const core::v1::NodeSelectorTerm& term, const FieldPath& path) {
    for (size_t i = 0; i < term.matchExpressions.size(); ++i) {
      Label(term.matchExpressions[i].key, path.Child("matchExpressions").Index(i).Child("key"));
    }
  }

  void Affinity(const core::v1::Affinity& affinity, const FieldPath& path) {
    constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
    constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
    if (affinity.nodeAffinity) {
      const FieldPath at = path.Child("nodeAffinity");
      if (const auto& required =
              affinity.nodeAffinity->requiredDuringSchedulingIgnoredDuringExecution) {
        for (size_t i = 0; i < required->nodeSelectorTerms.size(); ++i) {
          NodeTerm(required->nodeSelectorTerms[i],
                   at.Child(kRequired).Child("nodeSelectorTerms").Index(i));
        }
      }
      const auto& preferred =
          affinity.nodeAffinity->preferredDuringSchedulingIgnoredDuringExecution;
      for (size_t i = 0; i < preferred.size(); ++i)
        NodeTerm(preferred[i].preference, at.Child(kPreferred).Index(i).Child("preference"));
    }
    auto pods = [&](const auto& terms, const FieldPath& at) {
      const auto& required = terms.requiredDuringSchedulingIgnoredDuringExecution;
      for (size_t i = 0; i < required.size(); ++i)
        PodTerm(required[i], at.Child(kRequired).Index(i));
      const auto& preferred = terms.preferredDuringSchedulingIgnoredDuringExecution;
      for (size_t i = 0; i < preferred.size(); ++i) {
        PodTerm(preferred[i].podAffinityTerm,
                at.Child(kPreferred).Index(i).Child("podAffinityTerm"));
      }
    };
    if (affinity.podAffinity) pods(*affinity.podAffinity, path.Child("podAffinity"));
    if (affinity.podAntiAffinity) pods(*affinity.podAntiAffinity, path.Child("podAntiAffinity"));
  }

  void PodTerm(const core::v1::PodAffinityTerm& term, const FieldPath& path) {
    if (!term.labelSelector) Add(path.Child("labelSelector"), kNullSelector);
    Label(term.topologyKey, path.Child("topologyKey"));
  }

  void Volume(const core::v1::VolumeSource& source, const FieldPath& path) {
    auto gone = [&](bool set, std::string_view name, std::string_view text) {
      if (set) Add(path.Child(name), text);
    };
    gone(source.gitRepo.has_value(), "gitRepo",
         "deprecated in v1.11, and disabled by default in v1.33+");
    gone(source.photonPersistentDisk.has_value(), "photonPersistentDisk",
         "deprecated in v1.11, non-functional in v1.16+");
    gone(source.scaleIO.has_value(), "scaleIO", "deprecated in v1.16, non-functional in v1.22+");
    gone(source.flocker.has_value(), "flocker", "deprecated in v1.22, non-functional in v1.25+");
    gone(source.storageos.has_value(), "storageOS",
         "deprecated in v1.22, non-functional in v1.25+");
    gone(source.quobyte.has_value(), "quobyte", "deprecated in v1.22, non-functional in v1.25+");
    gone(source.glusterfs.has_value(), "glusterfs",
         "deprecated in v1.25, non-functional in v1.26+");
    gone(source.cephfs.has_value(), "cephfs", "deprecated in v1.28, non-functional in v1.31+");
    gone(source.rbd.has_value(), "rbd", "deprecated in v1.28, non-functional in v1.31+");
    if (!source.ephemeral || !source.ephemeral->volumeClaimTemplate) return;
    constexpr std::string_view kClass = "volume.beta.kubernetes.io/storage-class";
    const FieldPath claim = path.Child("ephemeral").Child("volumeClaimTemplate");
    const core::v1::PersistentVolumeClaimTemplate& it = *source.ephemeral->volumeClaimTemplate;
    if (it.metadata.annotations.contains(kClass)) {
      Add(claim.Child("metadata").Child("annotations").Key(kClass),
          "deprecated since v1.8; use \"storageClassName\" attribute instead");
    }
    Amounts(it.spec.resources.requests, claim.Child("spec").Child("resources").Child("requests"),
            "storage");
  }

  // Warns about fractional bytes.
  void Amounts(const Map<Quantity>& amounts, const FieldPath& path, std::string_view name) {
    const Quantity* amount = amounts.Get(name);
    if (amount == nullptr || amount->MilliValue() % 1000 == 0) return;
    Add(path.Key(name),
        "fractional byte value " + Quote(amount->ToString()) + " is invalid, must be an integer");
  }

  void Each(const List<Container>& containers, std::string_view name,
            void (PodWarner::*visit)(const Container&, const FieldPath&)) {
    for (size_t i = 0; i < containers.size(); ++i)
      (this->*visit)(containers[i], path_.Child(name).Index(i));
  }

  void Container_(const Container& container, const FieldPath& path) {
    const FieldPath resources = path.Child("resources");
    for (std::string_view name : {"memory", "ephemeral-storage"}) {
      Amounts(container.resources.limits, resources.Child("limits"), name);
      Amounts(container.resources.requests, resources.Child("requests"), name);
    }
    std::set<std::string_view> names;
    for (size_t i = 0; i < container.env.size(); ++i) {
      const core::v1::EnvVar& var = container.env[i];
      // A later value may be built from the earlier one: PATH=/x:$(PATH).
      const bool hides = !names.insert(var.name).second &&
                         var.value.find("$(" + var.name + ")") == std::string::npos;
      if (!hides) continue;
      Add(path.Child("env").Index(i), "hides previous definition of " + Quote(var.name) +
                                          ", which may be dropped when using apply");
    }
  }

  static bool Same(const ContainerPort& a, const ContainerPort& b) {
    return a.containerPort == b.containerPort && a.protocol == b.protocol &&
           a.hostPort == b.hostPort && a.hostIP == b.hostIP;
  }

  void Ports_(const Container& container, const FieldPath& path) {
    for (size_t i = 0; i < container.ports.size(); ++i) {
      const FieldPath at = path.Child("ports").Index(i);
      for (const auto& [port, where] : ports_) {
        if (!Same(*port, container.ports[i])) continue;
        Add(at, "duplicate port definition with " + where);
        break;
      }
      ports_.emplace_back(&container.ports[i], at.ToString());
    }
  }

  const PodSpec& spec_;
  const FieldPath& path_;
  std::vector<std::pair<const ContainerPort*, std::string>> ports_;
  Warnings warnings_;
};

// A file in a volume, and its source ("" unless there are several kinds of sources).
struct VolumeFile {
  std::string path;
  std::string source;
  std::string ToString() const {
    return source.empty() ? Quote(path) : Quote(path) + " (" + source + ")";
  }
};

template <class Items>
void AddFiles(const Items& items, const std::string& source, std::vector<VolumeFile>& files) {
  for (const auto& item : items) {
    std::string_view path = item.path;
    while (path.ends_with('/')) path.remove_suffix(1);
    files.push_back({std::string(path), source});
  }
}

// Pairs of files with the same path, or where one path is a parent of the other.
std::vector<std::string> Overlaps(const std::vector<VolumeFile>& files) {
  std::vector<std::string> found;
  for (size_t i = 0; i < files.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const std::string a = files[i].path + "/", b = files[j].path + "/";
      if (a.starts_with(b) || b.starts_with(a))
        found.push_back(files[i].ToString() + " with " + files[j].ToString());
    }
  }
  return found;
}

std::vector<VolumeFile> ProjectedFiles(const core::v1::VolumeProjection& source) {
  std::vector<VolumeFile> files;
  if (source.configMap) {
    AddFiles(source.configMap->items,
             "ConfigMap " + Quote(source.configMap->localObjectReference.name), files);
  }
  if (source.secret) {
    AddFiles(source.secret->items, "Secret " + Quote(source.secret->localObjectReference.name),
             files);
  }
  if (source.downwardAPI) AddFiles(source.downwardAPI->items, "DownwardAPI", files);
  if (source.serviceAccountToken)
    files.push_back({source.serviceAccountToken->path, "ServiceAccountToken"});
  return files;
}

bool IsEmptyProjection(const core::v1::VolumeProjection& source) {
  return !source.secret && !source.downwardAPI && !source.configMap &&
         !source.serviceAccountToken && !source.clusterTrustBundle && !source.podCertificate;
}

void PodWarner::OverlappingPaths() {
  for (const core::v1::Volume& volume : spec_.volumes) {
    const core::v1::VolumeSource& source = volume.volumeSource;
    auto warn = [&](const std::string& what, const std::vector<VolumeFile>& files) {
      for (const std::string& overlap : Overlaps(files)) {
        warnings_.push_back("volume " + Quote(volume.name) + " (" + what +
                            "): overlapping paths: " + overlap);
      }
    };
    std::vector<VolumeFile> files;
    if (source.configMap) {
      AddFiles(source.configMap->items, "", files);
      warn("ConfigMap " + Quote(source.configMap->localObjectReference.name), files);
    } else if (source.secret) {
      AddFiles(source.secret->items, "", files);
      warn("Secret " + Quote(source.secret->secretName), files);
    } else if (source.downwardAPI) {
      AddFiles(source.downwardAPI->items, "", files);
      warn("DownwardAPI", files);
    } else if (source.projected) {
      for (const core::v1::VolumeProjection& projection : source.projected->sources) {
        if (IsEmptyProjection(projection)) {
          warnings_.push_back("volume " + Quote(volume.name) +
                              " (Projected) has no sources provided");
        }
        for (VolumeFile& file : ProjectedFiles(projection)) files.push_back(std::move(file));
      }
      warn("Projected", files);
    }
  }
}

Warnings WarningsFor(const PodSpec& spec, const meta::v1::ObjectMeta& meta, const FieldPath& path,
                     const FieldPath& annotations) {
  PodWarner warner(spec, path);
  warner.Placement();
  warner.Annotations(meta, annotations);
  warner.Volumes();
  warner.Lists();
  warner.Containers();
  warner.GracePeriod();
  warner.Ports();
  warner.OverlappingPaths();
  warner.Addresses();
  return warner.Take();
}

}  // namespace

Warnings PodWarnings(const core::v1::Pod& pod) {
  Warnings warnings;
  validation::Messages messages = validation::IsDNS1123Label(pod.metadata.name);
  if (!messages.empty()) {
    warnings.push_back(
        "metadata.name: this is used in the Pod's hostname, which can result in surprising "
        "behavior; a DNS label is recommended: [" +
        Join(messages, " ") + "]");
  }
  for (std::string& text : WarningsFor(pod.spec, pod.metadata, FieldPath("spec"),
                                       FieldPath("metadata").Child("annotations")))
    warnings.push_back(std::move(text));
  return warnings;
}

Warnings PodTemplateWarnings(const FieldPath& path, const core::v1::PodTemplateSpec& pod_template,
                             const core::v1::PodTemplateSpec*) {
  return WarningsFor(pod_template.spec, pod_template.metadata, path.Child("spec"),
                     path.Child("metadata").Child("annotations"));
}

}  // namespace cox::apiserver
