// SPDX-License-Identifier: Apache-2.0
#include "kubelet/volumes/payload/payload_plugins.h"

#include "kubelet/volumes/files/file_tree.h"
#include "kubelet/volumes/payload/payload.h"

namespace cox::kubelet {
namespace {

using core::v1::VolumeSource;

struct PayloadType {
  std::string_view name;
  bool (*supports)(const VolumeSource& source);
  bool in_memory;
};
constexpr PayloadType kTypes[] = {
    {"kubernetes.io/configmap", [](const VolumeSource& s) { return s.configMap.has_value(); },
     false},
    {"kubernetes.io/secret", [](const VolumeSource& s) { return s.secret.has_value(); }, true},
    {"kubernetes.io/downward-api", [](const VolumeSource& s) { return s.downwardAPI.has_value(); },
     true},
    {"kubernetes.io/projected", [](const VolumeSource& s) { return s.projected.has_value(); },
     true},
};

class PayloadPlugin final : public VolumePlugin {
 public:
  PayloadPlugin(const PayloadType& type, ObjectSource& objects, TokenSource& tokens,
                Mounter& mounter)
      : type_(type), objects_(objects), tokens_(tokens), mounter_(mounter) {}

  std::string_view name() const override { return type_.name; }
  bool Supports(const VolumeSource& source) const override { return type_.supports(source); }
  bool IsWrittenByKubelet() const override { return true; }

  Result<VolumeSetUp> SetUp(Context& ctx, const VolumeRequest& request) const override {
    COX_ASSIGN_OR_RETURN(const VolumePayload payload,
                         CollectPayload(ctx, request.pod, request.volume.volumeSource,
                                        {objects_, tokens_, request.facts}));
    COX_RETURN_IF_ERROR(MakeDirectories(request.path, 0755));
    if (type_.in_memory) COX_RETURN_IF_ERROR(EnsureTmpfs(request.path));
    COX_ASSIGN_OR_RETURN(
        const bool changed,
        WriteAtomically(request.path, payload.files, request.fs_group(), ctx.clock().Now()));
    return VolumeSetUp{.again = payload.refresh, .changed = changed};
  }

 private:
  Status EnsureTmpfs(const std::string& path) const {
    COX_ASSIGN_OR_RETURN(const bool mounted, mounter_.IsMounted(path));
    return mounted ? Status() : mounter_.MountTmpfs(path, 0);
  }

  const PayloadType& type_;
  ObjectSource& objects_;
  TokenSource& tokens_;
  Mounter& mounter_;
};

}  // namespace

VolumePlugins NewPayloadPlugins(ObjectSource& objects, TokenSource& tokens, Mounter& mounter) {
  VolumePlugins plugins;
  for (const PayloadType& type : kTypes) {
    plugins.push_back(std::make_unique<PayloadPlugin>(type, objects, tokens, mounter));
  }
  return plugins;
}

}  // namespace cox::kubelet
