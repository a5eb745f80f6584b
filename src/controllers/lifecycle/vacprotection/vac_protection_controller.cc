// SPDX-License-Identifier: Apache-2.0
#include "controllers/lifecycle/vacprotection/vac_protection_controller.h"

#include <algorithm>
#include <memory>

#include "controllers/lifecycle/vacprotection/decide.h"
#include "coxswain/controller.h"
#include "object/owner.h"

namespace cox::controllers {
namespace {

using core::v1::PersistentVolume;
using core::v1::PersistentVolumeClaim;
using storage::v1::VolumeAttributesClass;

template <class T>
struct ByUsedClass {
  static constexpr std::string_view kName = "vacprotection/used class";
  static std::vector<std::string> Of(const T& object) { return ClassesUsedBy(object); }
};

class VacProtectionReconciler final : public Reconciler {
 public:
  explicit VacProtectionReconciler(Manager& manager)
      : client_(manager.client()),
        classes_(manager.cache().ListerOf<VolumeAttributesClass>()),
        volumes_(manager.cache().IndexOf<PersistentVolume, ByUsedClass<PersistentVolume>>()),
        claims_(
            manager.cache().IndexOf<PersistentVolumeClaim, ByUsedClass<PersistentVolumeClaim>>()) {}

  Result<ReconcileResult> Reconcile(Context& ctx, const ObjectKey& key) override {
    const auto vac = classes_.Get(key);
    if (vac == nullptr) return ReconcileResult::Done();
    VolumeAttributesClass changed = *vac;
    switch (DecideProtection(*vac)) {
      case VacProtection::kNone:
        return ReconcileResult::Done();
      case VacProtection::kAdd:
        AddFinalizer(&changed.metadata, kVacProtectionFinalizer);
        break;
      case VacProtection::kRemoveIfUnused: {
        // If a use ends, the change of its volume or claim requeues the class.
        COX_ASSIGN_OR_RETURN(const bool used, IsUsed(ctx, key.name));
        if (used) return ReconcileResult::Done();
        RemoveFinalizer(&changed.metadata, kVacProtectionFinalizer);
        break;
      }
    }
    // An update, because the controller's RBAC role allows no patch.
    const Status written = client_.Update(ctx, std::move(changed)).status();
    if (!written.ok() && !written.Is(Reason::kNotFound)) return written;
    return ReconcileResult::Done();
  }

 private:
  // The cache may be late, so a class counts as unused only after the lists of the API server
  // contain no use either.
  Result<bool> IsUsed(Context& ctx, const std::string& name) {
    if (!volumes_.Find(name).empty() || !claims_.Find(name).empty()) return true;
    COX_ASSIGN_OR_RETURN(const bool by_volume, IsUsedLive<PersistentVolume>(ctx, name));
    return by_volume ? true : IsUsedLive<PersistentVolumeClaim>(ctx, name);
  }

  template <class T>
  Result<bool> IsUsedLive(Context& ctx, const std::string& name) {
    bool used = false;
    const auto take = [&](const Object& object) -> Status {
      const T* user = object.As<T>();
      if (user == nullptr) return {};
      const std::vector<std::string> names = ClassesUsedBy(*user);
      used = std::find(names.begin(), names.end(), name) != names.end();
      return used ? Status::Conflict("in use") : Status();  // ends the list
    };
    const Status listed = client_.ListEach(ctx, Resource::Of<T>(), {}, take).status();
    if (used) return true;
    if (!listed.ok()) return listed;
    return false;
  }

  Client& client_;
  const Lister<VolumeAttributesClass> classes_;
  const Index<PersistentVolume, ByUsedClass<PersistentVolume>> volumes_;
  const Index<PersistentVolumeClaim, ByUsedClass<PersistentVolumeClaim>> claims_;
};

template <class T>
std::vector<ObjectKey> UsedKeys(const T& object) {
  std::vector<ObjectKey> keys;
  for (std::string& name : ClassesUsedBy(object)) keys.push_back({"", std::move(name)});
  return keys;
}

}  // namespace

Status AddVacProtectionController(Manager& manager) {
  return ControllerFor<VolumeAttributesClass>(manager)
      .Named("volumeattributesclass-protection-controller")
      .Watches<PersistentVolume>(UsedKeys<PersistentVolume>)
      .Watches<PersistentVolumeClaim>(UsedKeys<PersistentVolumeClaim>)
      .Complete(std::make_unique<VacProtectionReconciler>(manager));
}

}  // namespace cox::controllers
