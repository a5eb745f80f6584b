// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/registry/store/strategy.h"
#include "object/type/equal.h"

namespace cox::apiserver {

// Whether metadata.generation counts the changes of the spec, for status.observedGeneration. Some
// kinds have no generation.
enum class Generation : uint8_t { kCounted, kNone };

// The base of kinds with a spec that users write and a status that a controller writes: writes of
// the object keep the status, and writes of /status keep the spec. `StatusStrategy` handles
// /status.
template <class T, class StatusStrategy = PlainStatusStrategy<T>,
          Generation kGeneration = Generation::kCounted>
class SpecAndStatusStrategy : public StrategyOf<T> {
 public:
  const UpdateStrategy* Subresource(std::string_view name) const override {
    return name == "status" ? &status_ : nullptr;
  }
  std::span<const std::string_view> ResetFields() const override {
    static constexpr std::string_view kReset[] = {"status"};
    return kReset;
  }

 protected:
  void PrepareCreate(const WriteContext&, T& object) const override {
    object.status = {};
    if (kGeneration == Generation::kCounted) object.metadata.generation = 1;
  }
  void PrepareUpdate(const WriteContext&, T& object, const T& old) const override {
    object.status = old.status;
    if (kGeneration == Generation::kNone) return;
    const bool changed = !DeepEqual(object.spec, old.spec);
    object.metadata.generation = old.metadata.generation + (changed ? 1 : 0);
  }

 private:
  const StatusStrategy status_;
};

}  // namespace cox::apiserver
