// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/encrypted_store.h"

#include <atomic>
#include <string>
#include <utility>

#include "storage/store.h"
#include "storage/unreadable.h"

namespace cox::storage {
namespace {

// Decrypts values and records whether one failed.
class Opener {
 public:
  explicit Opener(std::shared_ptr<TransformerSlot> slot) : slot_(std::move(slot)) {}

  const TransformerSlot& slot() const { return *slot_; }

  // Replaces the stored value by the plaintext or, if it cannot be decrypted, by UnreadableValue.
  // Errors: the context's, if it stops meanwhile.
  Status Open(Context& ctx, const TransformerSlot::Current& current, KeyValue& kv) {
    if (current.transformer == nullptr) return {};
    Result<Transformer::Plain> plain = current.transformer->Open(ctx, kv.value, kv.key);
    if (plain.ok()) {
      kv.value = std::move(plain->value);
      kv.stale = plain->stale;
      return {};
    }
    COX_RETURN_IF_ERROR(ctx.status());
    COX_V(ctx.log(), 2, "Could not decrypt stored value", {"key", kv.key},
          {"err", plain.status().message()});
    kv.value = UnreadableValue(plain.status().message());
    unreadable_.store(current.number);
    return {};
  }

  // True if some values were unreadable and may be readable now, so the caller must read all values
  // again. Returns true only once per change.
  bool TakeRetry(const TransformerSlot::Current& current) {
    uint64_t number = unreadable_.load();
    return number != 0 && number != current.number &&
           unreadable_.compare_exchange_strong(number, 0);
  }

 private:
  const std::shared_ptr<TransformerSlot> slot_;
  // The slot's number when a value was unreadable; 0: none since TakeRetry.
  std::atomic<uint64_t> unreadable_ = 0;
};

class EncryptedWatch final : public Watch {
 public:
  EncryptedWatch(std::unique_ptr<Watch> under, std::shared_ptr<Opener> opener)
      : under_(std::move(under)), opener_(std::move(opener)) {}

  Result<WatchBatch> Next(Context& ctx) override {
    while (true) {
      TransformerSlot::Current current = opener_->slot().Load();
      if (opener_->TakeRetry(current)) {
        return Status::Expired("values that could not be decrypted are to be read again");
      }
      Context waiting = ctx.Child();
      const StopHandle on_change = current.changed.OnStop(
          [waiting]() mutable { waiting.Stop(Status::Expired("encryption has changed")); });
      Result<WatchBatch> batch = under_->Next(waiting);
      if (!batch.ok()) {
        // Woken by a change of the transformer, which may not affect this watch: check again.
        if (waiting.Done() && !ctx.Done() && current.changed.Done()) continue;
        return batch.status();
      }
      // The transformer may have changed while waiting.
      current = opener_->slot().Load();
      for (Event& event : batch->events) {
        if (event.type != Event::Type::kPut) continue;
        COX_RETURN_IF_ERROR(opener_->Open(ctx, current, event.kv));
      }
      return batch;
    }
  }

  Status RequestProgress() override { return under_->RequestProgress(); }

 private:
  const std::unique_ptr<Watch> under_;
  const std::shared_ptr<Opener> opener_;
};

class EncryptedStore final : public Store {
 public:
  EncryptedStore(Store& under, std::shared_ptr<TransformerSlot> slot)
      : under_(under), opener_(std::make_shared<Opener>(std::move(slot))) {}

  Result<Revision> Create(Context& ctx, std::string_view key, std::string_view value,
                          std::chrono::seconds ttl) override {
    std::string sealed;
    COX_ASSIGN_OR_RETURN(value, Seal(ctx, key, value, &sealed));
    return under_.Create(ctx, key, value, ttl);
  }

  Result<GetResult> Get(Context& ctx, std::string_view key) override {
    COX_ASSIGN_OR_RETURN(GetResult result, under_.Get(ctx, key));
    if (result.kv) COX_RETURN_IF_ERROR(opener_->Open(ctx, opener_->slot().Load(), *result.kv));
    return result;
  }

  Result<Page> List(Context& ctx, std::string_view prefix, const ListOptions& options) override {
    COX_ASSIGN_OR_RETURN(Page page, under_.List(ctx, prefix, options));
    if (options.keys_only) return page;
    const TransformerSlot::Current current = opener_->slot().Load();
    for (KeyValue& kv : page.items) COX_RETURN_IF_ERROR(opener_->Open(ctx, current, kv));
    return page;
  }

  Result<WriteResult> Update(Context& ctx, std::string_view key, std::string_view value,
                             Revision expected, std::chrono::seconds ttl) override {
    std::string sealed;
    COX_ASSIGN_OR_RETURN(value, Seal(ctx, key, value, &sealed));
    return OpenCurrent(ctx, under_.Update(ctx, key, value, expected, ttl));
  }

  Result<WriteResult> Delete(Context& ctx, std::string_view key, Revision expected) override {
    return OpenCurrent(ctx, under_.Delete(ctx, key, expected));
  }

  Result<WriteResult> WriteGuarded(Context& ctx, const GuardedWrite& write,
                                   const Guard& guard) override {
    GuardedWrite sealed_write = write;
    std::string sealed;
    if (write.value) {
      COX_ASSIGN_OR_RETURN(sealed_write.value, Seal(ctx, write.key, *write.value, &sealed));
    }
    return OpenCurrent(ctx, under_.WriteGuarded(ctx, sealed_write, guard));
  }
  // Guards are compared by revision, so encryption does not matter.
  const void* key_space() const override { return under_.key_space(); }

  Result<std::unique_ptr<Watch>> StartWatch(Context& ctx, std::string_view prefix,
                                            Revision after) override {
    COX_ASSIGN_OR_RETURN(std::unique_ptr<Watch> watch, under_.StartWatch(ctx, prefix, after));
    return std::make_unique<EncryptedWatch>(std::move(watch), opener_);
  }
  Result<Revision> CurrentRevision(Context& ctx) override { return under_.CurrentRevision(ctx); }
  Status Compact(Context& ctx, Revision revision) override { return under_.Compact(ctx, revision); }
  Status Healthy(Context& ctx) override { return under_.Healthy(ctx); }

 private:
  // Returns the value to write: `value`, or `sealed` with its encrypted form.
  Result<std::string_view> Seal(Context& ctx, std::string_view key, std::string_view value,
                                std::string* sealed) {
    const TransformerSlot::Current current = opener_->slot().Load();
    if (current.transformer == nullptr) return value;
    const Status status = current.transformer->Seal(ctx, value, key, sealed);
    if (!status.ok()) return status.WithContext("Internal error occurred");
    return std::string_view(*sealed);
  }

  Result<WriteResult> OpenCurrent(Context& ctx, Result<WriteResult> result) {
    if (result.ok() && result->current) {
      COX_RETURN_IF_ERROR(opener_->Open(ctx, opener_->slot().Load(), *result->current));
    }
    return result;
  }

  Store& under_;
  const std::shared_ptr<Opener> opener_;
};

}  // namespace

std::unique_ptr<Store> NewEncryptedStore(Store& under, std::shared_ptr<TransformerSlot> slot) {
  return std::make_unique<EncryptedStore>(under, std::move(slot));
}

}  // namespace cox::storage
