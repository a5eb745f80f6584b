// SPDX-License-Identifier: Apache-2.0
#include "apiserver/admission/plugins/shared/amounts.h"

namespace cox::apiserver::amounts {

void Add(Amounts& total, const Amounts& more) {
  for (const auto& [name, amount] : more) total[name].Add(amount);
}

void RaiseTo(Amounts& amounts, const Amounts& other) {
  for (const auto& [name, amount] : other) {
    Quantity* own = amounts.Get(name);
    if (own == nullptr) {
      amounts[name] = amount;
    } else if (*own < amount) {
      *own = amount;
    }
  }
}

Amounts Increase(const Amounts& after, const Amounts& before) {
  Amounts increase;
  for (const auto& [name, amount] : after) {
    Quantity more = amount;
    if (const Quantity* was = before.Get(name)) more.Sub(*was);
    if (more.Sign() > 0) increase[name] = std::move(more);
  }
  return increase;
}

Amounts Masked(const Amounts& amounts, const Amounts& names) {
  Amounts masked;
  for (const auto& [name, amount] : amounts) {
    if (names.contains(name)) masked[name] = amount;
  }
  return masked;
}

std::string ToText(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts) {
    if (!text.empty()) text += ",";
    text.append(name).append("=").append(amount.ToString());
  }
  return text;
}

}  // namespace cox::apiserver::amounts
