// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "coxswain/informer.h"

namespace cox {

// Which changes a controller wants to hear of. A filter saves work, never decides about
// correctness: what it drops is seen again at the next resync, if at all.
using Predicate = std::function<bool(const Delta&)>;

namespace predicates {

// Changes of the spec: metadata.generation. Creation and deletion pass. Not for kinds that have no
// generation.
Predicate GenerationChanged();
Predicate LabelsChanged();
Predicate AnnotationsChanged();
Predicate ResourceVersionChanged();  // no resyncs
Predicate HasLabels(labels::Selector selector);
Predicate InNamespace(std::string ns);
// Not what the controller `writer` wrote itself.
Predicate NotOwnWrites(std::string writer);

Predicate All(std::vector<Predicate> predicates);
Predicate Any(std::vector<Predicate> predicates);
Predicate Not(Predicate predicate);

// By the struct: On<Pod>([](const Pod& pod) { return pod.spec.nodeName == "n1"; }); of updates the
// new state counts.
template <class T>
Predicate On(std::function<bool(const T&)> wanted) {
  return [wanted = std::move(wanted)](const Delta& delta) {
    const std::shared_ptr<const T> object = As<T>(delta.object());
    return object != nullptr && wanted(*object);
  };
}

}  // namespace predicates
}  // namespace cox
