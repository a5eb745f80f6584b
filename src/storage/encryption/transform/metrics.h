// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/status.h"

namespace cox::storage {

// The metrics of encryption at rest, with upstream's names. One per server.
//
// Security: key IDs of a KMS are exported only as SHA-256 hashes, because they may be confidential.
// Threads: all methods may be called concurrently. Ownership: the registry outlives it.
class EncryptionMetrics {
 public:
  // `server_id` distinguishes the servers of a cluster; its hash is exported.
  EncryptionMetrics(MetricsRegistry& registry, std::string_view server_id);

  void Transformation(std::string_view resource, bool from_storage, std::string_view prefix,
                      Clock::Duration elapsed, bool ok);
  // A data encryption key, or the seed for such keys, was generated.
  void DataKey(Clock::Duration elapsed, bool ok);
  void KmsCall(std::string_view provider, std::string_view method, std::string_view grpc_code,
               Clock::Duration elapsed);
  void KmsKeyUsed(std::string_view provider, bool from_storage, std::string_view key_id,
                  Clock::WallTime now);
  void KmsKeySeen(std::string_view provider, std::string_view key_id, Clock::WallTime now);
  void KmsKeyInvalid(std::string_view provider, std::string_view error);
  void KmsCacheMiss();
  void KmsCacheSize(std::string_view provider, size_t size);
  void Reload(bool ok, Clock::WallTime now);

 private:
  const std::string server_hash_;
  CounterVec& operations_;
  HistogramVec& durations_;
  Counter& cache_misses_;
  Histogram& data_key_durations_;
  Counter& data_key_failures_;
  HistogramVec& kms_calls_;
  CounterVec& key_uses_;
  GaugeVec& key_last_used_;
  GaugeVec& key_last_seen_;
  CounterVec& key_invalid_;
  GaugeVec& cache_size_;
  CounterVec& reloads_;
  GaugeVec& last_reload_;
};

// The metrics of one resource.
class TransformationMetrics {
 public:
  // `metrics` outlives it.
  TransformationMetrics(EncryptionMetrics& metrics, std::string resource)
      : metrics_(metrics), resource_(std::move(resource)) {}
  void Record(bool from_storage, std::string_view prefix, Clock::Duration elapsed,
              const Status& status) {
    metrics_.Transformation(resource_, from_storage, prefix, elapsed, status.ok());
  }

 private:
  EncryptionMetrics& metrics_;
  const std::string resource_;
};

}  // namespace cox::storage
