// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "coxswain/informer.h"

namespace cox {

// Selects the changes that a controller handles. A predicate only saves work; correctness must not
// depend on it. A filtered change is delivered again at the next resync at the earliest.
using Predicate = std::function<bool(const Delta&)>;

namespace predicates {

// Changes of the spec (metadata.generation), creation and deletion. Not for kinds without a
// generation.
Predicate GenerationChanged();
Predicate LabelsChanged();
Predicate AnnotationsChanged();
Predicate ResourceVersionChanged();  // filters resyncs
Predicate HasLabels(labels::Selector selector);
Predicate InNamespace(std::string ns);
// Filters the writes of the controller `writer`.
Predicate NotOwnWrites(std::string writer);

Predicate All(std::vector<Predicate> predicates);
Predicate Any(std::vector<Predicate> predicates);
Predicate Not(Predicate predicate);

// Typed predicate: On<Pod>([](const Pod& pod) { return pod.spec.nodeName == "n1"; }). For updates,
// tests the new state.
template <class T>
Predicate On(std::function<bool(const T&)> wanted) {
  return [wanted = std::move(wanted)](const Delta& delta) {
    const std::shared_ptr<const T> object = As<T>(delta.object());
    return object != nullptr && wanted(*object);
  };
}

}  // namespace predicates
}  // namespace cox
