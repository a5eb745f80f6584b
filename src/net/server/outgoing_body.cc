// SPDX-License-Identifier: Apache-2.0
#include "net/server/outgoing_body.h"

#include <algorithm>
#include <cstring>

namespace cox::net {

OutgoingBody::OutgoingBody(std::vector<Bytes> pieces) : pieces_(std::move(pieces)) { Count(); }

void OutgoingBody::Count() {
  for (const Bytes& piece : pieces_) available_ += piece.size();
}

OutgoingBody::State OutgoingBody::Prepare() {
  while (available_ == 0) {
    if (source_ == nullptr) return State::kEnd;
    pieces_.clear();
    next_ = offset_ = 0;
    const BodySource::State state = source_->Pull(kPullBudget, &pieces_);
    Count();
    if (state == BodySource::State::kEnd) {
      source_.reset();
    } else if (state == BodySource::State::kWait && available_ == 0) {
      if (!ending_) {
        pieces_.shrink_to_fit();  // the wait may take hours
        return State::kWait;
      }
      source_.reset();
    }
  }
  return State::kReady;
}

size_t OutgoingBody::CopyTo(char* to, size_t room) {
  size_t copied = 0;
  while (copied < room && available_ > 0) {
    Bytes& piece = pieces_[next_];
    const size_t size = std::min(room - copied, piece.size() - offset_);
    std::memcpy(to + copied, piece.data() + offset_, size);
    copied += size;
    available_ -= size;
    offset_ += size;
    if (offset_ == piece.size()) {
      piece = {};
      ++next_;
      offset_ = 0;
    }
  }
  return copied;
}

void OutgoingBody::EndSource() { ending_ = true; }

}  // namespace cox::net
