// SPDX-License-Identifier: Apache-2.0
#include "base/build_info.h"

#include <utility>

namespace cox {
namespace {

BuildInfo& Current() {
  static BuildInfo info;
  return info;
}

}  // namespace

const BuildInfo& GetBuildInfo() { return Current(); }
void SetBuildInfo(BuildInfo info) { Current() = std::move(info); }

}  // namespace cox
