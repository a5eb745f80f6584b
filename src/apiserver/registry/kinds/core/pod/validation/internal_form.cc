// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/kinds/core/pod/validation/internal_form.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "api/meta/v1.h"
#include "object/codec/json/json.h"
#include "object/type/pointer.h"
#include "object/type/type.h"

namespace cox::apiserver {
namespace {

using core::v1::PodSpec;

// Go names that differ from the JSON name in more than the first letter. `type`, if set, is the
// only type for which the entry applies.
struct GoName {
  std::string_view json, go;
  const Type* type = nullptr;
};

constexpr GoName kNames[] = {
    {"apiGroup", "APIGroup"},
    {"apiVersion", "APIVersion"},
    {"awsElasticBlockStore", "AWSElasticBlockStore"},
    {"cephfs", "CephFS"},
    {"chapAuthDiscovery", "DiscoveryCHAPAuth"},
    {"chapAuthSession", "SessionCHAPAuth"},
    {"csi", "CSI"},
    {"diskURI", "DataDiskURI"},
    {"dnsConfig", "DNSConfig"},
    {"dnsPolicy", "DNSPolicy"},
    {"endpoints", "EndpointsName"},
    {"fc", "FC"},
    {"fsGroup", "FSGroup"},
    {"fsGroupChangePolicy", "FSGroupChangePolicy"},
    {"fsType", "FSType"},
    {"gcePersistentDisk", "GCEPersistentDisk"},
    {"gmsaCredentialSpec", "GMSACredentialSpec"},
    {"gmsaCredentialSpecName", "GMSACredentialSpecName"},
    {"grpc", "GRPC"},
    {"httpGet", "HTTPGet"},
    {"httpHeaders", "HTTPHeaders"},
    {"image", "RBDImage", &core::v1::RBDVolumeSource::kType},
    {"ip", "IP"},
    {"iqn", "IQN"},
    {"iscsi", "ISCSI"},
    {"iscsiInterface", "ISCSIInterface"},
    {"monitors", "CephMonitors", &core::v1::RBDVolumeSource::kType},
    {"nfs", "NFS"},
    {"os", "OS"},
    {"pdID", "PdID"},
    {"pdName", "PDName"},
    {"pool", "RBDPool", &core::v1::RBDVolumeSource::kType},
    {"rbd", "RBD"},
    {"seLinuxChangePolicy", "SELinuxChangePolicy"},
    {"seLinuxOptions", "SELinuxOptions"},
    {"sslEnabled", "SSLEnabled"},
    {"storageos", "StorageOS"},
    {"tcpSocket", "TCPSocket"},
    {"tty", "TTY"},
    {"user", "RadosUser", &core::v1::RBDVolumeSource::kType},
    {"wwids", "WWIDs"},
};

std::string NameInGo(const Type& type, std::string_view json) {
  for (const GoName& name : kNames)
    if (name.json == json && (name.type == nullptr || name.type == &type))
      return std::string(name.go);
  std::string go(json);
  if (!go.empty() && go[0] >= 'a' && go[0] <= 'z') go[0] = static_cast<char>(go[0] - 'a' + 'A');
  return go;
}

// The order of members, where it differs from the API type. "securityContext" of a pod also
// contains the host namespaces; members that are not listed are not part of the internal type.
constexpr std::string_view kPodSpecOrder[] = {
    "volumes",
    "initContainers",
    "containers",
    "ephemeralContainers",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "nodeSelector",
    "serviceAccountName",
    "automountServiceAccountToken",
    "nodeName",
    "securityContext",
    "imagePullSecrets",
    "hostname",
    "subdomain",
    "setHostnameAsFQDN",
    "affinity",
    "schedulerName",
    "tolerations",
    "hostAliases",
    "priorityClassName",
    "priority",
    "preemptionPolicy",
    "dnsConfig",
    "readinessGates",
    "runtimeClassName",
    "overhead",
    "enableServiceLinks",
    "topologySpreadConstraints",
    "os",
    "schedulingGates",
    "resourceClaims",
    "resources",
    "hostnameOverride",
    "schedulingGroup",
};
constexpr std::string_view kPodSecurityOrder[] = {
    "seLinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "seccompProfile",
    "appArmorProfile",
    "seLinuxChangePolicy",
};
constexpr std::string_view kVolumeOrder[] = {
    "name",
    "hostPath",
    "emptyDir",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "quobyte",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "downwardAPI",
    "fc",
    "azureFile",
    "configMap",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
    "projected",
    "portworxVolume",
    "scaleIO",
    "storageos",
    "csi",
    "ephemeral",
    "image",
};

std::span<const std::string_view> OrderOf(const Type& type) {
  if (&type == &PodSpec::kType) return kPodSpecOrder;
  if (&type == &core::v1::PodSecurityContext::kType) return kPodSecurityOrder;
  if (&type == &core::v1::Volume::kType) return kVolumeOrder;
  return {};
}

// Types of metav1 have JSON names in Go, too, and omit empty members.
bool IsMetaType(const Type& type) {
  return &type == &meta::v1::LabelSelector::kType || &type == &meta::v1::ObjectMeta::kType;
}

class Writer {
 public:
  void One(const Type& type, const void* at) {
    if (type.shape == Shape::kStruct) {
      if (IsMetaType(type)) return Json(type, at);
      Open('{');
      Members(type, at);
      Close('}');
    } else if (type.shape == Shape::kList) {
      List(type, at);
    } else if (type.shape == Shape::kMap) {
      Entries(type, at);
    } else {
      json::Encode(type, at, &out_);
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  void Members(const Type& type, const void* object) {
    std::span<const std::string_view> order = OrderOf(type);
    if (!order.empty()) {
      for (std::string_view name : order) Member(type, *type.Find(name), object);
      return;
    }
    for (const Field& field : type.fields) {
      // Rows for protobuf only: the inlined fields follow as fields of the outer struct.
      if (!field.Has(Field::kInline)) Member(type, field, object);
    }
  }

  void Member(const Type& type, const Field& field, const void* object) {
    const void* at = static_cast<const char*>(object) + field.offset;
    if (field.type == &meta::v1::ObjectMeta::kType) return Json(*field.type, at, /*inside=*/true);
    Name(NameInGo(type, field.name));
    const void* value = field.Has(Field::kPointer) ? PointedTo(*field.type, at) : at;
    if (value == nullptr) {
      out_ += "null";
    } else if (field.type == &core::v1::PodSecurityContext::kType) {
      PodSecurity(*static_cast<const PodSpec*>(object));
    } else {
      One(*field.type, value);
    }
  }

  void PodSecurity(const PodSpec& spec) {
    Open('{');
    Bool("HostNetwork", spec.hostNetwork);
    Bool("HostPID", spec.hostPID);
    Bool("HostIPC", spec.hostIPC);
    Bool("ShareProcessNamespace", spec.shareProcessNamespace);
    Bool("HostUsers", spec.hostUsers);
    Members(core::v1::PodSecurityContext::kType, spec.securityContext.get());
    Close('}');
  }

  void Bool(std::string_view name, std::optional<bool> value) {
    Name(name);
    out_ += !value ? "null" : *value ? "true" : "false";
  }

  void List(const Type& type, const void* at) {
    ItemSpan items = type.list_ops->items(at);
    if (items.count == 0) {
      out_ += "null";
      return;
    }
    Open('[');
    for (size_t i = 0; i < items.count; ++i) {
      Next();
      One(*type.element, static_cast<const char*>(items.data) + i * type.list_ops->stride);
    }
    Close(']');
  }

  void Entries(const Type& type, const void* at) {
    ItemSpan entries = type.map_ops->Entries(at);
    if (entries.count == 0) {
      out_ += "null";
      return;
    }
    Open('{');
    for (size_t i = 0; i < entries.count; ++i) {
      const char* entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
      Name(*reinterpret_cast<const std::string*>(entry));
      One(*type.element, entry + type.map_ops->value_offset);
    }
    Close('}');
  }

  // Writes JSON as on the wire, one member per line. With `inside` it writes the members without
  // the braces.
  void Json(const Type& type, const void* at, bool inside = false) {
    std::string text;
    json::Encode(type, at, &text);
    std::string_view rest = text;
    if (inside) rest = rest.substr(1, rest.size() - 2);
    if (inside && !rest.empty()) Next();
    bool quoted = false;
    for (size_t i = 0; i < rest.size(); ++i) {
      const char c = rest[i];
      if (c == '"' && (i == 0 || !Escaped(rest, i))) quoted = !quoted;
      if (quoted) {
        out_ += c;
      } else if ((c == '{' || c == '[') && rest[i + 1] == (c == '{' ? '}' : ']')) {
        out_.append(rest.substr(i++, 2));
      } else if (c == '{' || c == '[') {
        Open(c);
        Next();
      } else if (c == '}' || c == ']') {
        Close(c);
      } else if (c == ',') {
        Next();
      } else {
        out_ += c;
        if (c == ':') out_ += ' ';
      }
    }
  }

  static bool Escaped(std::string_view text, size_t at) {
    size_t slashes = 0;
    while (at > slashes && text[at - 1 - slashes] == '\\') ++slashes;
    return slashes % 2 == 1;
  }

  void Open(char bracket) {
    out_ += bracket;
    ++depth_;
  }
  void Close(char bracket) {
    --depth_;
    const bool empty = out_.back() == '{' || out_.back() == '[';
    if (!empty) {
      out_ += '\n';
      out_.append(depth_, ' ');
    }
    out_ += bracket;
  }
  // Starts the line of the next member or item.
  void Next() {
    if (out_.back() != '{' && out_.back() != '[') out_ += ',';
    out_ += '\n';
    out_.append(depth_, ' ');
  }
  void Name(std::string_view name) {
    Next();
    json::WriteString(name, &out_);
    out_ += ": ";
  }

  std::string out_;
  size_t depth_ = 0;
};

}  // namespace

std::string InternalForm(const PodSpec& spec) {
  Writer writer;
  writer.One(PodSpec::kType, &spec);
  return writer.Take();
}

std::string InternalForm(const core::v1::EphemeralContainer& container) {
  Writer writer;
  writer.One(core::v1::EphemeralContainer::kType, &container);
  return writer.Take();
}

}  // namespace cox::apiserver
