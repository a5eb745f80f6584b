// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// The objects that are written, as JSON.
namespace cox::bench {

// A ConfigMap with `bytes` of data. `version` is part of the data, so that an update changes it.
std::string ConfigMapJson(const std::string& name, size_t bytes, int64_t version = 0);

// A Pod like those of a Deployment: a container, probes, volumes; about 2.5 KB when stored. `group`
// is the value of the label that list requests select.
std::string PodJson(const std::string& name, const std::string& group);

// Names of equal length, so that keys have equal length.
std::string NumberedName(const std::string& prefix, int64_t number);

}  // namespace cox::bench
