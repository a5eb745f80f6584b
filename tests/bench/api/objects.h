// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// The objects that are written, as JSON.
namespace cox::bench {

// `bytes` of data. With a `version`, that is in it too: an update that changes something.
std::string ConfigMapJson(const std::string& name, size_t bytes, int64_t version = 0);

// As a Deployment makes it: a container, probes, volumes; about 2.5 KB when stored. `group` is
// the value of the label that lists select by.
std::string PodJson(const std::string& name, const std::string& group);

// Names of equal length, so that keys are as long.
std::string NumberedName(const std::string& prefix, int64_t number);

}  // namespace cox::bench
