// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cox::bench {

// A measured value with its target.
struct Figure {
  std::string scenario;
  std::string what;
  double value = 0;
  std::string unit;
  double target = 0;      // for an idle machine like the reference machine
  double limit = 0;       // --check fails beyond it; only a regression should reach it
  bool at_least = false;  // else at most
  std::string note;       // spread, other rates
};

// Collects figures and prints each one when it is added.
class Report {
 public:
  void Add(Figure figure);
  // Reports an error: --check fails.
  void Fail(const std::string& scenario, const std::string& why);
  // Prints a text without a target.
  void Say(const std::string& scenario, const std::string& text) const;
  void PrintHead() const;
  // Figures that exceed their limits, one line each.
  std::vector<std::string> Broken() const;

 private:
  std::vector<Figure> figures_;
  std::vector<std::string> failures_;
};

}  // namespace cox::bench
