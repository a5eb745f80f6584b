// SPDX-License-Identifier: Apache-2.0
#include "object/core/tolerations.h"

#include <algorithm>

namespace cox::core_rules {

using core::v1::Taint;
using core::v1::Toleration;

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_ == core::v1::kTolerationOpExists) return true;
  const bool equal =
      toleration.operator_.empty() || toleration.operator_ == core::v1::kTolerationOpEqual;
  return equal && toleration.value == taint.value;
}

const Toleration* FindToleration(const List<Toleration>& tolerations, const Taint& taint) {
  const auto found =
      std::find_if(tolerations.begin(), tolerations.end(),
                   [&taint](const Toleration& one) { return Tolerates(one, taint); });
  return found == tolerations.end() ? nullptr : &*found;
}

}  // namespace cox::core_rules
