// SPDX-License-Identifier: Apache-2.0
#include "apiserver/endpoints/verbs/list_encoder.h"

#include <utility>

#include "object/codec/json/json.h"
#include "object/codec/protobuf/protobuf.h"

namespace cox::apiserver {
namespace {

std::string ListHead(std::string_view kind, std::string_view api_version, const ListMeta& meta) {
  return "{\"kind\":\"" + std::string(kind) + "List\",\"apiVersion\":\"" +
         std::string(api_version) + "\"," + ListMetaJson(meta) + ",\"items\":[";
}

// Joins the encodings that all readers of the cache share.
class SharedJson final : public ListEncoder {
 public:
  SharedJson(const ServedResource& resource, ListMeta meta)
      : resource_(resource), meta_(std::move(meta)) {}

  std::string Head(size_t) override {
    return ListHead(resource_.kind().kind, ApiVersionOf(resource_.kind()), meta_);
  }
  void Item(const storage::Entry& entry, std::vector<Bytes>* out) override {
    Result<Bytes> item = resource_.Encoded(entry, Format::kJson);
    if (!item.ok()) return;
    // Items have neither kind nor apiVersion: skip these members of the shared encoding.
    out->push_back(Bytes::Static(std::exchange(first_, false) ? "{" : ",{"));
    out->push_back(item->Slice(resource_.type_meta_size()));
  }
  std::string Tail() override { return "]}\n"; }

 private:
  const ServedResource& resource_;
  const ListMeta meta_;
  bool first_ = true;
};

class PartialJson final : public ListEncoder {
 public:
  PartialJson(const ServedResource& resource, ListMeta meta, std::string version)
      : resource_(resource), meta_(std::move(meta)), version_(std::move(version)) {}

  std::string Head(size_t) override {
    return ListHead("PartialObjectMetadata", std::string(kMetaGroup) + "/" + version_, meta_);
  }
  void Item(const storage::Entry& entry, std::vector<Bytes>* out) override {
    Result<Object> hub = resource_.store().Decode(entry.stored(), entry.revision());
    if (!hub.ok()) return;
    std::string text(std::exchange(first_, false) ? "" : ",");
    EncodeObject(ToPartialMetadata(resource_, *hub, version_), Format::kJson, &text);
    text.pop_back();  // the newline
    out->emplace_back(std::move(text));
  }
  std::string Tail() override { return "]}\n"; }

 private:
  const ServedResource& resource_;
  const ListMeta meta_;
  const std::string version_;
  bool first_ = true;
};

class TableJson final : public ListEncoder {
 public:
  TableJson(const ServedResource& resource, ListMeta meta, std::string version,
            IncludeObject include, Time now)
      : resource_(resource),
        meta_(std::move(meta)),
        version_(std::move(version)),
        table_(resource.strategy().Columns(), version_, include),
        now_(std::move(now)) {}

  std::string Head(size_t) override {
    table_.Begin(ListMetaJson(meta_), /*with_columns=*/true);
    return table_.Take();
  }
  void Item(const storage::Entry& entry, std::vector<Bytes>* out) override {
    Result<Object> hub = resource_.store().Decode(entry.stored(), entry.revision());
    if (!hub.ok()) return;
    AddTableRow(table_, resource_, *hub, now_);
    out->emplace_back(table_.Take());
  }
  std::string Tail() override { return table_.End() + "\n"; }

 private:
  const ServedResource& resource_;
  const ListMeta meta_;
  const std::string version_;
  TableWriter table_;
  const Time now_;
};

// The message of a list has the metadata in field 1 and the items in field 2. The envelope around
// it begins with its size.
class ProtobufEncoder : public ListEncoder {
 public:
  ProtobufEncoder(std::string api_version, std::string kind, const ListMeta& meta)
      : api_version_(std::move(api_version)), kind_(std::move(kind)) {
    const std::string encoded = proto::Encode(ToListMeta(meta));
    proto::AppendLengthPrefix(&meta_, 1, encoded.size());
    meta_ += encoded;
  }

  bool head_has_size() const override { return true; }
  std::string Head(size_t items_size) override {
    return proto::EnvelopeHead(api_version_, kind_, meta_.size() + items_size) + meta_;
  }
  std::string Tail() override { return std::string(proto::kEnvelopeTail); }

 protected:
  static void AddItem(Bytes raw, std::vector<Bytes>* out) {
    std::string prefix;
    proto::AppendLengthPrefix(&prefix, 2, raw.size());
    out->emplace_back(std::move(prefix));
    out->push_back(std::move(raw));
  }

 private:
  const std::string api_version_;
  const std::string kind_;
  std::string meta_;
};

class SharedProtobuf final : public ProtobufEncoder {
 public:
  SharedProtobuf(const ServedResource& resource, const ListMeta& meta)
      : ProtobufEncoder(ApiVersionOf(resource.kind()), std::string(resource.kind().kind) + "List",
                        meta),
        resource_(resource) {}

  void Item(const storage::Entry& entry, std::vector<Bytes>* out) override {
    Result<Bytes> item = resource_.Encoded(entry, Format::kProtobuf);
    if (!item.ok()) return;
    Result<proto::Envelope> envelope = proto::Open(item->view());
    if (!envelope.ok()) return;
    const std::string_view raw = envelope->raw;
    AddItem(item->Slice(static_cast<size_t>(raw.data() - item->data()), raw.size()), out);
  }

 private:
  const ServedResource& resource_;
};

class PartialProtobuf final : public ProtobufEncoder {
 public:
  PartialProtobuf(const ServedResource& resource, const ListMeta& meta, const std::string& version)
      : ProtobufEncoder(std::string(kMetaGroup) + "/" + version, "PartialObjectMetadataList", meta),
        resource_(resource),
        version_(version) {}

  void Item(const storage::Entry& entry, std::vector<Bytes>* out) override {
    Result<Object> hub = resource_.store().Decode(entry.stored(), entry.revision());
    if (!hub.ok()) return;
    const Object partial = ToPartialMetadata(resource_, *hub, version_);
    std::string raw;
    proto::Encode(partial.type(), partial.data(), &raw);
    AddItem(Bytes(std::move(raw)), out);
  }

 private:
  const ServedResource& resource_;
  const std::string version_;
};

}  // namespace

Result<std::unique_ptr<ListEncoder>> MakeListEncoder(const ServedResource& resource, ListMeta meta,
                                                     const Accepted& accepted,
                                                     IncludeObject include, const Time& now) {
  const bool protobuf = accepted.format == Format::kProtobuf;
  std::unique_ptr<ListEncoder> encoder;
  switch (accepted.transform) {
    case Transform::kPartialMetadata:
      return TransformError(accepted, resource.kind(), /*list=*/true);
    case Transform::kTable:
      encoder = std::make_unique<TableJson>(resource, std::move(meta), accepted.transform_version,
                                            include, now);
      break;
    case Transform::kPartialMetadataList:
      if (protobuf) {
        encoder = std::make_unique<PartialProtobuf>(resource, meta, accepted.transform_version);
      } else {
        encoder =
            std::make_unique<PartialJson>(resource, std::move(meta), accepted.transform_version);
      }
      break;
    case Transform::kNone:
      if (protobuf) {
        encoder = std::make_unique<SharedProtobuf>(resource, meta);
      } else {
        encoder = std::make_unique<SharedJson>(resource, std::move(meta));
      }
      break;
  }
  return encoder;
}

}  // namespace cox::apiserver
