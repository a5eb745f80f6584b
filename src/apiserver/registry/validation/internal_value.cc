// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/validation/internal_value.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "api/meta/v1.h"
#include "object/codec/json/json.h"
#include "object/type/api_types.h"
#include "object/type/pointer.h"

namespace cox::apiserver {
namespace {

// Leading words of JSON names that Go writes in capitals, where the Go name is more than a capital
// first letter. The longest match wins; a new word must follow it.
constexpr std::pair<std::string_view, std::string_view> kFirstWords[] = {
    {"api", "API"},       {"aws", "AWS"},         {"ca", "CA"},
    {"cephfs", "CephFS"}, {"cidr", "CIDR"},       {"cidrs", "CIDRs"},
    {"csi", "CSI"},       {"dns", "DNS"},         {"downwardAPI", "DownwardAPI"},
    {"fc", "FC"},         {"fqdn", "FQDN"},       {"fs", "FS"},
    {"gce", "GCE"},       {"gid", "GID"},         {"grpc", "GRPC"},
    {"http", "HTTP"},     {"id", "ID"},           {"ip", "IP"},
    {"ips", "IPs"},       {"iscsi", "ISCSI"},     {"nfs", "NFS"},
    {"rbd", "RBD"},       {"scaleIO", "ScaleIO"}, {"se", "SE"},
    {"ssl", "SSL"},       {"tcp", "TCP"},         {"tls", "TLS"},
    {"tty", "TTY"},       {"uid", "UID"},         {"url", "URL"},
    {"wwids", "WWIDs"},
};

std::string GoName(std::string_view json_name) {
  std::string_view best, replacement;
  for (const auto& [word, go] : kFirstWords) {
    bool whole = json_name.size() == word.size() ||
                 (json_name.size() > word.size() && json_name[word.size()] >= 'A' &&
                  json_name[word.size()] <= 'Z');
    if (json_name.starts_with(word) && whole && word.size() > best.size()) {
      best = word;
      replacement = go;
    }
  }
  std::string name(replacement);
  name.append(json_name.substr(best.size()));
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z')
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

bool IsMetaType(const Type& type) {
  static constexpr std::array kMeta = {
      &meta::v1::LabelSelector::kType, &meta::v1::LabelSelectorRequirement::kType,
      &meta::v1::ObjectMeta::kType,    &meta::v1::OwnerReference::kType,
      &meta::v1::Condition::kType,
  };
  return std::find(kMeta.begin(), kMeta.end(), &type) != kMeta.end();
}

class Writer {
 public:
  explicit Writer(std::string* out) : out_(*out) {}

  void One(const Type& type, const void* at) {
    switch (type.shape) {
      case Shape::kStruct:
        if (IsMetaType(type) || type.codec != Codec::kFields) {
          json::Encode(type, at, &out_);
        } else {
          Struct(type, at);
        }
        return;
      case Shape::kList:
        return List(type, at);
      case Shape::kMap:
        return Entries(type, at);
      default:
        json::Encode(type, at, &out_);
    }
  }

 private:
  void Struct(const Type& type, const void* object) {
    out_.push_back('{');
    for (const Field& field : type.fields) {
      // Rows for protobuf only: the inlined fields follow as fields of the outer struct.
      if (field.Has(Field::kInline)) continue;
      Member(field, static_cast<const char*>(object) + field.offset);
    }
    out_.push_back('}');
  }

  void Member(const Field& field, const void* at) {
    const Type& type = *field.type;
    if (&type == &meta::v1::ObjectMeta::kType) return Embedded(type, at);
    Comma();
    out_.append("\"").append(GoName(field.name)).append("\":");
    const void* value = field.Has(Field::kPointer) ? PointedTo(type, at) : at;
    if (value == nullptr) {
      out_.append("null");
    } else {
      One(type, value);
    }
  }

  // Writes the members of metadata as members of the object itself.
  void Embedded(const Type& type, const void* at) {
    std::string text;
    json::Encode(type, at, &text);
    if (text.size() <= 2) return;
    Comma();
    out_.append(text, 1, text.size() - 2);
  }

  void List(const Type& type, const void* at) {
    ItemSpan items = type.list_ops->items(at);
    if (items.count == 0) return Null();
    out_.push_back('[');
    for (size_t i = 0; i < items.count; ++i) {
      if (i > 0) out_.push_back(',');
      One(*type.element, static_cast<const char*>(items.data) + i * type.list_ops->stride);
    }
    out_.push_back(']');
  }

  void Entries(const Type& type, const void* at) {
    ItemSpan entries = type.map_ops->Entries(at);
    if (entries.count == 0) return Null();
    out_.push_back('{');
    for (size_t i = 0; i < entries.count; ++i) {
      if (i > 0) out_.push_back(',');
      const char* entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
      json::WriteString(*reinterpret_cast<const std::string*>(entry), &out_);
      out_.push_back(':');
      One(*type.element, entry + type.map_ops->value_offset);
    }
    out_.push_back('}');
  }

  void Null() { out_.append("null"); }
  void Comma() {
    if (out_.back() != '{') out_.push_back(',');
  }

  std::string& out_;
};

}  // namespace

FieldValue InternalValue(const Type& type, const void* object) {
  std::string text;
  Writer(&text).One(type, object);
  return FieldValue::Json(std::move(text));
}

}  // namespace cox::apiserver
