// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/context.h"
#include "base/mutex.h"
#include "storage/encryption/transform/transformer.h"

namespace cox::storage {

// The transformer of one resource as it is now: configuration changes, and key services come back,
// while the server runs.
//
// Threads: all methods may be called concurrently.
class TransformerSlot {
 public:
  // Null: values rest as they are.
  TransformerSlot(const Context& ctx, TransformerPtr transformer)
      : ctx_(ctx), transformer_(std::move(transformer)), changed_(ctx.Child()) {}

  // A transformer and how long it is worth trying: when `changed` stops, with Expired, what it
  // could not open is worth reading again. Numbers grow from 1.
  struct Current {
    TransformerPtr transformer;
    Context changed;
    uint64_t number;
  };
  Current Load() const {
    MutexLock lock(mu_);
    return {transformer_, changed_, number_};
  }

  void Replace(TransformerPtr transformer) { Change(&transformer); }
  // The transformer is the same and may now open what it could not.
  void Retry() { Change(nullptr); }

 private:
  void Change(TransformerPtr* transformer) {
    Context before = [&] {
      MutexLock lock(mu_);
      // The old transformer is freed after the lock.
      if (transformer != nullptr) std::swap(transformer_, *transformer);
      ++number_;
      return std::exchange(changed_, ctx_.Child());
    }();
    before.Stop(Status::Expired("the encryption of values has changed"));
  }

  const Context ctx_;
  mutable Mutex mu_;
  TransformerPtr transformer_ COX_GUARDED_BY(mu_);
  Context changed_ COX_GUARDED_BY(mu_);
  uint64_t number_ COX_GUARDED_BY(mu_) = 1;
};

}  // namespace cox::storage
