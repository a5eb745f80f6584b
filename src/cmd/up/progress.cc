// SPDX-License-Identifier: Apache-2.0
#include "cmd/up/progress.h"

#include <cstdio>
#include <string>

namespace cox::cmd {

double Progress::seconds() const {
  return std::chrono::duration<double>(clock_.Monotonic() - begun_).count();
}

void Progress::Report(std::string_view what) {
  char time[32];
  std::snprintf(time, sizeof time, "%6.2f s  ", seconds());
  Print(time + std::string(what) + "\n");
}

void Progress::Print(std::string_view text) {
  MutexLock lock(mu_);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace cox::cmd
