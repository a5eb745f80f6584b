// SPDX-License-Identifier: Apache-2.0
#include "api/report.h"

#include <cstdio>
#include <utility>

namespace cox::bench {
namespace {

bool Holds(const Figure& figure, double bound) {
  return figure.at_least ? figure.value >= bound : figure.value <= bound;
}

}  // namespace

void Report::PrintHead() const {
  std::printf("%-14s %-34s %10s %-10s %12s  %s\n", "scenario", "figure", "measured", "unit",
              "target", "note");
}

void Report::Add(Figure figure) {
  char target[32] = "";
  std::snprintf(target, sizeof target, "%s %g", figure.at_least ? ">=" : "<=", figure.target);
  std::printf("%-14s %-34s %10.3g %-10s %12s  %s%s\n", figure.scenario.c_str(), figure.what.c_str(),
              figure.value, figure.unit.c_str(), target,
              Holds(figure, figure.target) ? "" : "MISSED ", figure.note.c_str());
  std::fflush(stdout);
  figures_.push_back(std::move(figure));
}

void Report::Fail(const std::string& scenario, const std::string& why) {
  std::printf("%-14s FAILED: %s\n", scenario.c_str(), why.c_str());
  std::fflush(stdout);
  failures_.push_back(scenario + ": " + why);
}

void Report::Say(const std::string& scenario, const std::string& text) const {
  std::printf("%-14s %s\n", scenario.c_str(), text.c_str());
  std::fflush(stdout);
}

std::vector<std::string> Report::Broken() const {
  std::vector<std::string> broken = failures_;
  for (const Figure& figure : figures_) {
    if (Holds(figure, figure.limit)) continue;
    char text[256];
    std::snprintf(text, sizeof text, "%s: %s is %.3g %s, the limit is %g", figure.scenario.c_str(),
                  figure.what.c_str(), figure.value, figure.unit.c_str(), figure.limit);
    broken.emplace_back(text);
  }
  return broken;
}

}  // namespace cox::bench
