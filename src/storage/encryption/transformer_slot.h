// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/context.h"
#include "base/mutex.h"
#include "storage/encryption/transform/transformer.h"

namespace cox::storage {

// The current transformer of one resource. It changes at run time when the configuration is
// reloaded or a KMS plugin recovers.
//
// Threads: all methods may be called concurrently.
class TransformerSlot {
 public:
  // Null: values are not transformed.
  TransformerSlot(const Context& ctx, TransformerPtr transformer)
      : ctx_(ctx), transformer_(std::move(transformer)), changed_(ctx.Child()) {}

  // The current transformer. When `changed` stops (with Expired), values that it could not decrypt
  // should be read again. `number` increases from 1 with each change.
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
  // The transformer stays, but may now decrypt values that it could not decrypt before.
  void Retry() { Change(nullptr); }

 private:
  void Change(TransformerPtr* transformer) {
    Context before = [&] {
      MutexLock lock(mu_);
      // The old transformer is freed after unlocking.
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
