// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/transform/metrics.h"

#include <chrono>

#include "net/digest.h"

namespace cox::storage {
namespace {

constexpr std::string_view kFrom = "from_storage";
constexpr std::string_view kTo = "to_storage";

std::string HashText(std::string_view text) {
  return text.empty() ? std::string() : "sha256:" + net::Sha256Hex(text);
}

double Seconds(Clock::Duration elapsed) { return std::chrono::duration<double>(elapsed).count(); }
double UnixSeconds(Clock::WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

EncryptionMetrics::EncryptionMetrics(MetricsRegistry& registry, std::string_view server_id)
    : server_hash_(HashText(server_id)),
      operations_(registry.AddCounterVec(
          {"apiserver_storage_transformation_operations_total",
           "Values encrypted for the store or decrypted from it, by how that ended."},
          {"resource", "transformation_type", "transformer_prefix", "status"})),
      durations_(registry.AddHistogramVec({"apiserver_storage_transformation_duration_seconds",
                                           "How long encrypting or decrypting a value took."},
                                          ExponentialBuckets(5e-6, 2, 25),
                                          {"transformation_type", "transformer_prefix"})),
      cache_misses_(registry.AddCounter(
          {"apiserver_storage_envelope_transformation_cache_misses_total",
           "Keys that a KMS plugin had to decrypt because they were not in memory."})),
      data_key_durations_(
          registry.AddHistogram({"apiserver_storage_data_key_generation_duration_seconds",
                                 "How long making a data encryption key took."},
                                ExponentialBuckets(5e-6, 2, 14))),
      data_key_failures_(
          registry.AddCounter({"apiserver_storage_data_key_generation_failures_total",
                               "Data encryption keys that could not be made."})),
      kms_calls_(registry.AddHistogramVec(
          {"apiserver_envelope_encryption_kms_operations_latency_seconds",
           "How long calls of the KMS plugin took, by the gRPC code they ended with."},
          ExponentialBuckets(0.0001, 2, 20), {"provider_name", "method_name", "grpc_status_code"})),
      key_uses_(registry.AddCounterVec(
          {"apiserver_envelope_encryption_key_id_hash_total",
           "Values encrypted or decrypted, by the key of the KMS behind them."},
          {"transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"})),
      key_last_used_(registry.AddGaugeVec(
          {"apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds",
           "When a key of the KMS was used last."},
          {"transformation_type", "provider_name", "key_id_hash", "apiserver_id_hash"})),
      key_last_seen_(registry.AddGaugeVec(
          {"apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds",
           "When the KMS plugin said last that a key is its current one."},
          {"provider_name", "key_id_hash", "apiserver_id_hash"})),
      key_invalid_(registry.AddCounterVec(
          {"apiserver_envelope_encryption_invalid_key_id_from_status_total",
           "Key ids in answers of the KMS plugin about its state that are not valid."},
          {"provider_name", "error"})),
      cache_size_(
          registry.AddGaugeVec({"apiserver_envelope_encryption_dek_source_cache_size",
                                "Data encryption keys, or seeds of them, that are kept in memory."},
                               {"provider_name"})),
      reloads_(registry.AddCounterVec(
          {"apiserver_encryption_config_controller_automatic_reloads_total",
           "Times the encryption configuration was read anew, by how that ended."},
          {"status", "apiserver_id_hash"})),
      last_reload_(registry.AddGaugeVec(
          {"apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds",
           "When the encryption configuration was read anew last, by how that ended."},
          {"status", "apiserver_id_hash"})) {}

void EncryptionMetrics::Transformation(std::string_view resource, bool from_storage,
                                       std::string_view prefix, Clock::Duration elapsed, bool ok) {
  const std::string_view type = from_storage ? kFrom : kTo;
  operations_.With({resource, type, prefix, ok ? "OK" : "Unknown"}).Inc();
  if (ok) durations_.With({type, prefix}).Observe(Seconds(elapsed));
}

void EncryptionMetrics::DataKey(Clock::Duration elapsed, bool ok) {
  if (ok) {
    data_key_durations_.Observe(Seconds(elapsed));
  } else {
    data_key_failures_.Inc();
  }
}

void EncryptionMetrics::KmsCall(std::string_view provider, std::string_view method,
                                std::string_view grpc_code, Clock::Duration elapsed) {
  kms_calls_.With({provider, method, grpc_code}).Observe(Seconds(elapsed));
}

void EncryptionMetrics::KmsCacheMiss() { cache_misses_.Inc(); }

void EncryptionMetrics::KmsKeyUsed(std::string_view provider, bool from_storage,
                                   std::string_view key_id, Clock::WallTime now) {
  const std::string hash = HashText(key_id);
  const std::string_view type = from_storage ? kFrom : kTo;
  key_uses_.With({type, provider, hash, server_hash_}).Inc();
  key_last_used_.With({type, provider, hash, server_hash_}).Set(UnixSeconds(now));
}

void EncryptionMetrics::KmsKeySeen(std::string_view provider, std::string_view key_id,
                                   Clock::WallTime now) {
  key_last_seen_.With({provider, HashText(key_id), server_hash_}).Set(UnixSeconds(now));
}

void EncryptionMetrics::KmsKeyInvalid(std::string_view provider, std::string_view error) {
  key_invalid_.With({provider, error}).Inc();
}

void EncryptionMetrics::KmsCacheSize(std::string_view provider, size_t size) {
  cache_size_.With({provider}).Set(static_cast<double>(size));
}

void EncryptionMetrics::Reload(bool ok, Clock::WallTime now) {
  const std::string_view status = ok ? "success" : "failure";
  reloads_.With({status, server_hash_}).Inc();
  last_reload_.With({status, server_hash_}).Set(UnixSeconds(now));
}

}  // namespace cox::storage
