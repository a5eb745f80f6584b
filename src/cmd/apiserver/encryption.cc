// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/encryption.h"

#include <utility>

#include "apiserver/config/encryption_config.h"

namespace cox::cmd {
namespace {

constexpr std::chrono::seconds kTryAgain{10};

Status Take(storage::Encryption& encryption, const std::string& text) {
  COX_ASSIGN_OR_RETURN(const storage::EncryptionOptions options,
                       apiserver::ParseEncryptionConfig(text));
  return encryption.Reload(options);
}

}  // namespace

Result<std::unique_ptr<EncryptionAtRest>> EncryptionAtRest::Open(const Context& ctx,
                                                                 const Flags& flags,
                                                                 MetricsRegistry& metrics) {
  auto made = std::make_unique<EncryptionAtRest>(ctx);
  if (!flags.Has("encryption-provider-config")) return made;
  const std::string path = flags.Get("encryption-provider-config");
  const bool reloads = flags.GetBool("encryption-provider-config-automatic-reload");
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(path));
  Result<storage::EncryptionOptions> options = apiserver::ParseEncryptionConfig(text);
  if (!options.ok()) return options.status().WithContext("--encryption-provider-config");
  COX_ASSIGN_OR_RETURN(made->encryption_,
                       storage::Encryption::Create(ctx, *options, reloads, metrics));
  if (reloads) COX_RETURN_IF_ERROR(made->WatchFile(ctx, path, text));
  return made;
}

EncryptionAtRest::~EncryptionAtRest() {
  watch_.reset();
  scope_.Stop();
  scope_.Wait();
}

Status EncryptionAtRest::WatchFile(const Context& ctx, const std::string& path,
                                   const std::string& taken) {
  const auto take_later = [this](const std::string& text) {
    {
      MutexLock lock(mu_);
      text_ = text;
    }
    notification_.Notify();
  };
  COX_RETURN_IF_ERROR(scope_.Go("encryption", [this](Context& work) { Reload(work); }));
  COX_ASSIGN_OR_RETURN(
      watch_, FileWatch::Start(
                  ctx, {.name = "encryption-config", .paths = {path}},
                  [&](std::span<const std::string> texts) {
                    if (texts.front() != taken) take_later(texts.front());
                    return Status();
                  },
                  [take_later, ctx](const Result<std::vector<std::string>>& texts) {
                    if (texts.ok()) return take_later(texts->front());
                    COX_ERROR(
                        ctx.log(), texts.status(),
                        "Could not reload the encryption configuration, keeping the previous one");
                  }));
  return {};
}

void EncryptionAtRest::Reload(Context& ctx) {
  std::string text;
  while (!ctx.Done()) {
    // Without pending content, waits for a notification.
    notification_.Await(ctx, text.empty() ? Clock::Duration(std::chrono::hours(24)) : kTryAgain);
    if (ctx.Done()) return;
    {
      MutexLock lock(mu_);
      if (!text_.empty()) text = std::exchange(text_, std::string());
    }
    if (text.empty()) continue;
    const Status status = Take(*encryption_, text);
    if (status.ok()) {
      COX_INFO(ctx.log(), "Reloaded the encryption configuration");
    } else {
      COX_ERROR(ctx.log(), status,
                "Could not reload the encryption configuration, keeping the previous one");
    }
    // An invalid file is not retried, but a KMS plugin may become ready.
    if (status.ok() || status.Is(Reason::kBadRequest)) text.clear();
  }
}

storage::Store& EncryptionAtRest::StoreOf(storage::Store& under, std::string_view group,
                                          std::string_view resource) const {
  return encryption_ == nullptr ? under : encryption_->StoreOf(under, group, resource);
}

std::vector<apiserver::HealthCheck> EncryptionAtRest::Checks() const {
  std::vector<apiserver::HealthCheck> checks;
  if (encryption_ == nullptr) return checks;
  for (storage::Encryption::Check& each : encryption_->Checks()) {
    // Not included in livez: a restart of the API server does not restore a KMS plugin.
    checks.push_back({.name = std::move(each.name),
                      .check = std::move(each.check),
                      .on = apiserver::HealthCheck::kReadyz | apiserver::HealthCheck::kHealthz});
  }
  return checks;
}

}  // namespace cox::cmd
