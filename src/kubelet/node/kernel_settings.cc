// SPDX-License-Identifier: Apache-2.0
#include "kubelet/node/kernel_settings.h"

#include <algorithm>
#include <vector>

#include "base/file_watch.h"
#include "base/strings.h"

namespace cox::kubelet {
namespace {

struct Setting {
  std::string_view name;
  std::string_view value;
};
constexpr Setting kSettings[] = {
    {"vm.overcommit_memory", "1"},            // memory may be overcommitted
    {"vm.panic_on_oom", "0"},                 // a process is killed, the machine continues
    {"kernel.panic", "10"},                   // the machine restarts after a kernel panic
    {"kernel.panic_on_oops", "1"},            // an error of the kernel is a panic
    {"kernel.keys.root_maxkeys", "1000000"},  // each container has keys
    {"kernel.keys.root_maxbytes", "25000000"},
};

}  // namespace

Status CheckKernelDefaults(const std::string& root) {
  std::vector<std::string> wrong;
  for (const Setting& setting : kSettings) {
    std::string path(setting.name);
    std::replace(path.begin(), path.end(), '.', '/');
    const Result<std::string> text = ReadBoundedFile(root + "/proc/sys/" + path);
    const std::string value = text.ok() ? std::string(TrimSpace(*text)) : "(cannot be read)";
    if (value == setting.value) continue;
    wrong.push_back(std::string(setting.name) + " is " + value + ", expected " +
                    std::string(setting.value));
  }
  if (wrong.empty()) return {};
  return Status::Invalid("protectKernelDefaults: " + Join(wrong, "; "));
}

Status CheckSwapOff(const std::string& root) {
  // A header, then a line for each swap device or file. A kernel without swap has no file.
  const Result<std::string> text = ReadBoundedFile(root + "/proc/swaps");
  if (!text.ok()) return {};
  const std::string devices(TrimSpace(Cut(*text, '\n').after));
  if (devices.empty()) return {};
  return Status::Invalid("failSwapOn: swap is enabled; disable it or set --fail-swap-on=false: " +
                         devices);
}

}  // namespace cox::kubelet
