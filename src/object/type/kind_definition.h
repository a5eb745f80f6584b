// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "object/type/gvk.h"
#include "object/type/kind.h"

namespace cox {

// A kind that is defined at run time, in one version. It owns everything that its KindInfo refers
// to, as the constant tables do for built-in kinds.
//
// Threads: immutable after construction.
// Ownership: shared. The KindInfo, and objects that were created with it, must not outlive it.
class KindDefinition {
 public:
  struct Subresource {
    std::string name;
    GroupVersionKind gvk;  // of the objects that are read and written
    std::vector<std::string> verbs;
  };
  struct Options {
    GroupVersionKind gvk;
    std::string plural;
    std::string singular;
    std::vector<std::string> short_names;
    std::vector<std::string> categories;
    bool namespaced = false;
    std::vector<std::string> verbs;
    std::vector<Subresource> subresources;
    // Shares ownership with a RuntimeType; a constant table has no owner.
    std::shared_ptr<const Type> type;
  };
  explicit KindDefinition(Options options);
  KindDefinition(const KindDefinition&) = delete;
  KindDefinition& operator=(const KindDefinition&) = delete;

  const KindInfo& info() const { return info_; }

 private:
  std::span<const std::string_view> Views(const std::vector<std::string>& texts);

  const Options options_;
  std::deque<std::vector<std::string_view>> views_;
  std::vector<SubresourceInfo> subresources_;
  KindInfo info_;
};

}  // namespace cox
