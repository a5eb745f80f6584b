// SPDX-License-Identifier: Apache-2.0
#include "scheduler/cycle/memo.h"

#include <algorithm>
#include <utility>

namespace cox::scheduler {

void Memo::Reset(std::string new_signature, const Profile& profile, const Snapshot& nodes) {
  signature = std::move(new_signature);
  epoch = nodes.epoch();
  state.Clear();
  pre_filtered = false;
  pre_filter = {};
  naming.clear();
  skip_filter.assign(profile.filters().size(), false);
  pre_scored = false;
  skip_score.assign(profile.scorers().size(), false);
  std::fill(filtered.begin(), filtered.end(), 0);
  std::fill(scored.begin(), scored.end(), 0);
  Fit(profile, nodes);
}

void Memo::Fit(const Profile& profile, const Snapshot& nodes) {
  const size_t size = nodes.capacity();
  filtered.resize(size, 0);
  verdicts.resize(size);
  scored.resize(size, 0);
  scores.resize(size * profile.scorers().size());
}

Memo& Memos::For(const Profile& profile, const PodInfo& pod, const Snapshot& nodes) {
  std::string signature = profile.Sign(pod);
  if (signature.empty()) {
    once_.Reset("", profile, nodes);
    return once_;
  }
  auto found = std::find_if(memos_.begin(), memos_.end(),
                            [&](const Memo& memo) { return memo.signature == signature; });
  const bool known = found != memos_.end();
  if (!known) {
    if (memos_.size() < kMax) memos_.emplace_back();
    found = std::prev(memos_.end());
  }
  memos_.splice(memos_.begin(), memos_, found);
  Memo& memo = memos_.front();
  if (!known || memo.epoch != nodes.epoch()) memo.Reset(std::move(signature), profile, nodes);
  return memo;
}

}  // namespace cox::scheduler
