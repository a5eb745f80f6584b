// SPDX-License-Identifier: Apache-2.0
#include "storage/watchcache/revision_reader.h"

#include <chrono>

namespace cox::storage {
namespace {

constexpr std::chrono::seconds kTimeout{3};

}  // namespace

Result<Revision> RevisionReader::Read(Context& ctx) {
  MutexLock lock(mu_);
  if (next_ == nullptr) next_ = std::make_shared<Round>();
  const std::shared_ptr<Round> mine = next_;
  COX_RETURN_IF_ERROR(ctx.Await(
      mu_, changed_, [&]() COX_REQUIRES(mu_) { return mine->answer.has_value() || !reading_; }));
  if (mine->answer.has_value()) return *mine->answer;
  // No read is in progress: this thread reads for all waiting callers. Later callers must not share
  // this read.
  reading_ = true;
  next_ = nullptr;
  lock.Unlock();
  Context limited = ctx_.WithTimeout(kTimeout);
  Result<Revision> answer = store_.CurrentRevision(limited);
  lock.Lock();
  mine->answer = answer;
  reading_ = false;
  changed_.NotifyAll();
  return answer;
}

}  // namespace cox::storage
