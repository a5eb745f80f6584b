// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "api/core/v1.h"
#include "apiserver/registry/store/table.h"

// The tables of `kubectl get pods` and `kubectl get podtemplates`.
namespace cox::apiserver {

std::span<const Column> PodColumns();
Cells PodRow(const core::v1::Pod& pod, const Time& now);

std::span<const Column> PodTemplateColumns();
Cells PodTemplateRow(const core::v1::PodTemplate& pod_template);

}  // namespace cox::apiserver
