// SPDX-License-Identifier: Apache-2.0
#include "storage/encryption/kms/messages.h"

#include <utility>

#include "base/strings.h"
#include "object/codec/protobuf/fields.h"
#include "object/validation/names.h"

namespace cox::storage::kms {
namespace {

using proto::BackWriter;
using proto::Fields;
using proto::WireType;

constexpr size_t kMaxKeyId = 1024;
constexpr size_t kMaxAnnotations = 32 * 1024;
constexpr size_t kMaxCiphertext = 1024;

void Text(BackWriter& writer, uint32_t number, std::string_view value) {
  if (!value.empty()) writer.BytesField(number, value);
}

void Put(BackWriter& writer, uint32_t number, const Annotations& annotations) {
  for (auto at = annotations.rbegin(); at != annotations.rend(); ++at) {
    const size_t before = writer.size();
    Text(writer, 2, at->second);
    Text(writer, 1, at->first);
    writer.MessageField(number, before);
  }
}

bool TakeAnnotation(std::string_view message, Annotations& annotations) {
  std::string key, value;
  Fields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) key = fields.bytes();
    if (fields.number() == 2) value = fields.bytes();
  }
  annotations[std::move(key)] = std::move(value);
  return fields.good();
}

// gRPC's prefix: the compression flag and the length.
std::string_view Framed(BackWriter& writer) {
  const size_t size = writer.size();
  const char prefix[] = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                         static_cast<char>(size >> 8), static_cast<char>(size)};
  writer.Raw({prefix, sizeof prefix});
  return writer.view();
}

Status Malformed(std::string_view what) {
  return Status::Internal("malformed " + std::string(what) + " of the KMS plugin");
}

}  // namespace

std::string StatusRequest() { return std::string(5, '\0'); }

KeyBytes EncryptRequest(const KeyBytes& plaintext, std::string_view uid) {
  // Security: without BackWriter, whose buffer is not wiped. There are two short fields of known
  //   size.
  std::string request;
  const auto field = [&](char number, std::string_view bytes) {
    request += static_cast<char>(number << 3 | static_cast<char>(WireType::kBytes));
    request += static_cast<char>(bytes.size());  // < 128
    request += bytes;
  };
  request.reserve(9 + plaintext.size() + uid.size());
  request.assign(5, '\0');
  field(1, plaintext.view());
  field(2, uid);
  request[4] = static_cast<char>(request.size() - 5);
  return KeyBytes(std::move(request));
}

std::string DecryptRequest(const WrappedKey& key, std::string_view uid) {
  BackWriter writer;
  Put(writer, 4, key.annotations);
  Text(writer, 3, key.key_id);
  Text(writer, 2, uid);
  Text(writer, 1, key.ciphertext);
  return std::string(Framed(writer));
}

Result<PluginStatus> DecodeStatus(std::string_view message) {
  PluginStatus status;
  Fields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) status.version = fields.bytes();
    if (fields.number() == 2) status.healthz = fields.bytes();
    if (fields.number() == 3) status.key_id = fields.bytes();
  }
  if (!fields.good()) return Malformed("StatusResponse");
  return status;
}

Result<WrappedKey> DecodeEncrypt(std::string_view message) {
  WrappedKey key;
  Fields fields(message);
  bool good = true;
  while (good && fields.Next()) {
    if (fields.number() == 1) key.ciphertext = fields.bytes();
    if (fields.number() == 2) key.key_id = fields.bytes();
    if (fields.number() == 3) good = TakeAnnotation(fields.bytes(), key.annotations);
  }
  if (!good || !fields.good()) return Malformed("EncryptResponse");
  return key;
}

Result<KeyBytes> DecodeDecrypt(std::string_view message) {
  KeyBytes key;
  Fields fields(message);
  while (fields.Next()) {
    if (fields.number() == 1) key = KeyBytes(std::string(fields.bytes()));
  }
  if (!fields.good()) return Malformed("DecryptResponse");
  return key;
}

void AppendEncryptedObject(const EncryptedObject& object, std::string* out) {
  BackWriter writer(object.data.size() + object.key.ciphertext.size() + 256);
  if (object.source != KeySource::kAesGcmKey) {
    writer.VarintField(5, static_cast<uint64_t>(object.source));
  }
  Put(writer, 4, object.key.annotations);
  Text(writer, 3, object.key.ciphertext);
  Text(writer, 2, object.key.key_id);
  Text(writer, 1, object.data);
  out->append(writer.view());
}

Result<EncryptedObject> ParseEncryptedObject(std::string_view bytes) {
  EncryptedObject object;
  uint64_t source = 0;
  Fields fields(bytes);
  bool good = true;
  while (good && fields.Next()) {
    if (fields.number() == 1) object.data = fields.bytes();
    if (fields.number() == 2) object.key.key_id = fields.bytes();
    if (fields.number() == 3) object.key.ciphertext = fields.bytes();
    if (fields.number() == 4) good = TakeAnnotation(fields.bytes(), object.key.annotations);
    if (fields.number() == 5) source = static_cast<uint64_t>(fields.value());
  }
  if (!good || !fields.good()) return Status::Internal("failed to unmarshal encrypted object");
  if (source > static_cast<uint64_t>(KeySource::kHkdfSeed)) {
    return Status::Internal("unknown encryptedDEKSourceType: " + std::to_string(source));
  }
  object.source = static_cast<KeySource>(source);
  if (object.data.empty()) return Status::Internal("encrypted data is empty");
  COX_RETURN_IF_ERROR(CheckWrappedKey(object.key));
  return object;
}

Status CheckKeyId(std::string_view key_id) {
  if (key_id.empty()) return Status::Internal("keyID is empty");
  if (key_id.size() > kMaxKeyId) {
    return Status::Internal("keyID is " + std::to_string(key_id.size()) +
                            " bytes, which exceeds the max size of " + std::to_string(kMaxKeyId));
  }
  return {};
}

Status CheckWrappedKey(const WrappedKey& key) {
  COX_RETURN_IF_ERROR(CheckKeyId(key.key_id));
  if (key.ciphertext.empty()) return Status::Internal("encrypted DEK source is empty");
  if (key.ciphertext.size() > kMaxCiphertext) {
    return Status::Internal("encrypted DEK source is " + std::to_string(key.ciphertext.size()) +
                            " bytes, which exceeds the max size of " +
                            std::to_string(kMaxCiphertext));
  }
  size_t size = 0;
  for (const auto& [name, value] : key.annotations) {
    if (!validation::IsFullyQualifiedDomainName(FieldPath("annotations"), name).empty()) {
      return Status::Internal("annotation key " + Quote(name) + " is not a qualified name");
    }
    size += name.size() + value.size();
  }
  if (size > kMaxAnnotations) {
    return Status::Internal("total size of annotations is " + std::to_string(size) +
                            ", which exceeds the max size of " + std::to_string(kMaxAnnotations));
  }
  return {};
}

}  // namespace cox::storage::kms
