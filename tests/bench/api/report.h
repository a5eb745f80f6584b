// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cox::bench {

// One figure that was measured, and what it should be.
struct Figure {
  std::string scenario;
  std::string what;
  double value = 0;
  std::string unit;
  double target = 0;      // of an idle machine like the reference one
  double limit = 0;       // what --check fails at: far enough that only a step back reaches it
  bool at_least = false;  // else at most
  std::string note;       // spread, other rates
};

// Collects figures and prints each when it is there.
class Report {
 public:
  void Add(Figure figure);
  // Something went wrong: --check fails.
  void Fail(const std::string& scenario, const std::string& why);
  // Without a target.
  void Say(const std::string& scenario, const std::string& text) const;
  void PrintHead() const;
  // What is worse than its limit, one line each.
  std::vector<std::string> Broken() const;

 private:
  std::vector<Figure> figures_;
  std::vector<std::string> failures_;
};

}  // namespace cox::bench
