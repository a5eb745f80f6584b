// SPDX-License-Identifier: Apache-2.0
// Encodes structs to text or a Value: one encoder, two sinks.
#include "object/codec/json/json.h"
#include "object/codec/json/member.h"
#include "object/codec/json/reader.h"
#include "object/codec/json/text.h"
#include "object/type/api_types.h"
#include "object/type/gvk.h"
#include "object/type/kind.h"
#include "object/type/pointer.h"

namespace cox::json {
namespace {

// Writes JSON text.
class TextSink {
 public:
  explicit TextSink(std::string* out) : out_(*out) {}

  void Null() { out_.append("null"); }
  void Bool(bool v) { out_.append(v ? "true" : "false"); }
  void Int(int64_t v) { WriteInt(v, &out_); }
  void Double(double v) { WriteDouble(v, &out_); }
  void String(std::string_view v) { WriteString(v, &out_); }
  void Bytes(std::string_view v) {
    out_.push_back('"');
    WriteBase64(v, &out_);
    out_.push_back('"');
  }
  void Raw(std::string_view v) {
    // Protobuf input can contain any bytes here; invalid JSON must not break the document.
    Reader reader(v);
    reader.Skip() && reader.End() ? WriteCompact(v, &out_) : Null();
  }
  void BeginObject() { out_.push_back('{'); }
  // Field names need no escaping.
  void Key(std::string_view name) {
    if (out_.back() != '{') out_.push_back(',');
    out_.push_back('"');
    out_.append(name);
    out_.append("\":");
  }
  void MapKey(std::string_view name) {
    if (out_.back() != '{') out_.push_back(',');
    WriteString(name, &out_);
    out_.push_back(':');
  }
  void EndObject() { out_.push_back('}'); }
  void BeginArray(size_t) { out_.push_back('['); }
  void Item() {
    if (out_.back() != '[') out_.push_back(',');
  }
  void EndArray() { out_.push_back(']'); }

 private:
  std::string& out_;
};

// Builds a Value.
class ValueSink {
 public:
  explicit ValueSink(Value* out) : root_(*out) {}

  void Null() { Put(Value()); }
  void Bool(bool v) { Put(v); }
  void Int(int64_t v) { Put(v); }
  void Double(double v) { Put(v); }
  void String(std::string_view v) { Put(v); }
  void Bytes(std::string_view v) {
    std::string text;
    WriteBase64(v, &text);
    Put(std::string_view(text));
  }
  void Raw(std::string_view v) {
    Result<Value> parsed = Parse(v);
    Put(parsed.ok() ? *std::move(parsed) : Value());  // like TextSink::Raw
  }
  void BeginObject() { open_.push_back({.is_object = true}); }
  void Key(std::string_view name) { open_.back().key.assign(name); }
  void MapKey(std::string_view name) { Key(name); }
  void EndObject() {
    open_.back().object.Seal();
    Close(Value(std::move(open_.back().object)));
  }
  void BeginArray(size_t count) {
    open_.push_back({.is_object = false});
    open_.back().array.reserve(count);
  }
  void Item() {}
  void EndArray() { Close(Value(std::move(open_.back().array))); }

 private:
  struct Open {
    bool is_object;
    std::string key = {};
    Value::Object object = {};
    Value::Array array = {};
  };

  void Put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().object.Append(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().array.push_back(std::move(value));
    }
  }
  void Close(Value value) {
    open_.pop_back();
    Put(std::move(value));
  }

  Value& root_;
  std::vector<Open> open_;
};

template <class Sink>
class Encoder {
 public:
  explicit Encoder(Sink* sink) : sink_(*sink) {}

  void Run(const Type& type, const void* object, const TypeMeta* meta) {
    names_embedded_ = meta != nullptr && meta->embedded;
    if (type.shape == Shape::kStruct && type.codec == Codec::kFields) {
      Struct(type, object, meta);
    } else {
      One(type, object);
    }
  }

 private:
  void One(const Type& type, const void* at) {
    switch (type.shape) {
      case Shape::kBool:
        return sink_.Bool(*static_cast<const bool*>(at));
      case Shape::kInt32:
        return sink_.Int(*static_cast<const int32_t*>(at));
      case Shape::kInt64:
        return sink_.Int(*static_cast<const int64_t*>(at));
      case Shape::kDouble:
        return sink_.Double(*static_cast<const double*>(at));
      case Shape::kString:
        return sink_.String(*static_cast<const std::string*>(at));
      case Shape::kBytes: {
        const auto& bytes = *static_cast<const std::string*>(at);
        return bytes.empty() ? sink_.Null() : sink_.Bytes(bytes);
      }
      case Shape::kQuantity:
        return sink_.String(static_cast<const Quantity*>(at)->ToString());
      case Shape::kIntOrString: {
        const auto& value = *static_cast<const IntOrString*>(at);
        return value.is_string() ? sink_.String(value.string_value())
                                 : sink_.Int(value.int_value());
      }
      case Shape::kTime: {
        const auto& time = *static_cast<const Time*>(at);
        return time.IsZero() ? sink_.Null() : sink_.String(time.ToString());
      }
      case Shape::kMicroTime: {
        const auto& time = *static_cast<const MicroTime*>(at);
        return time.IsZero() ? sink_.Null() : sink_.String(time.ToString());
      }
      case Shape::kDuration:
        return sink_.String(static_cast<const Duration*>(at)->ToString());
      case Shape::kRaw: {
        const auto& raw = static_cast<const RawJson*>(at)->raw;
        return raw.empty() ? sink_.Null() : sink_.Raw(raw);
      }
      case Shape::kStruct:
        return type.codec == Codec::kFields ? Struct(type, at, nullptr) : Union(type, at);
      case Shape::kList:
        return List(type, at);
      case Shape::kMap:
        return Entries(type, at);
      case Shape::kAny:
        return sink_.Null();
    }
  }

  void Struct(const Type& type, const void* object, const TypeMeta* meta) {
    sink_.BeginObject();
    // The kind and apiVersion of a top-level object come from `meta`, even if the struct has them.
    if (meta != nullptr) {
      if (!meta->kind.empty()) WriteMember("kind", meta->kind);
      if (!meta->api_version.empty()) WriteMember("apiVersion", meta->api_version);
    }
    for (const Field& field : type.fields) {
      if (field.Has(Field::kInline)) continue;
      if (meta != nullptr && (field.name == "kind" || field.name == "apiVersion")) continue;
      WriteField(field, object);
    }
    sink_.EndObject();
  }

  void WriteMember(std::string_view name, std::string_view value) {
    sink_.Key(name);
    sink_.String(value);
  }

  void WriteField(const Field& field, const void* object) {
    const Member member = MemberAt(field, object);
    if (!member.present) return;
    sink_.Key(field.name);
    if (member.value == nullptr) return sink_.Null();
    const Type& type = *field.type;
    const void* value = member.value;
    if (names_embedded_ && type.shape == Shape::kList && type.element->type_meta &&
        field.name != "items") {
      return Embedded(type, value);
    }
    One(type, value);
  }

  // A list of objects that is not the list of a kind, with their kind and apiVersion.
  void Embedded(const Type& type, const void* list) {
    for (const KindInfo* kind : AllKinds()) {
      if (kind->type != type.element) continue;
      const GroupVersion version{std::string(kind->group), std::string(kind->version)};
      const TypeMeta meta{version.ToString(), std::string(kind->kind)};
      return List(type, list, &meta);
    }
    List(type, list);
  }

  void List(const Type& type, const void* list, const TypeMeta* meta = nullptr) {
    ItemSpan items = type.list_ops->items(list);
    if (items.count == 0) return sink_.Null();
    sink_.BeginArray(items.count);
    for (size_t i = 0; i < items.count; ++i) {
      sink_.Item();
      const void* item = static_cast<const char*>(items.data) + i * type.list_ops->stride;
      meta != nullptr ? Struct(*type.element, item, meta) : One(*type.element, item);
    }
    sink_.EndArray();
  }

  void Entries(const Type& type, const void* map) {
    ItemSpan entries = type.map_ops->Entries(map);
    if (entries.count == 0) return sink_.Null();
    sink_.BeginObject();
    for (size_t i = 0; i < entries.count; ++i) {
      const char* entry = static_cast<const char*>(entries.data) + i * type.map_ops->stride;
      sink_.MapKey(*reinterpret_cast<const std::string*>(entry));
      const void* value = entry + type.map_ops->value_offset;
      // Map entries always have a value: empty bytes are encoded as "".
      const bool no_bytes = type.element->shape == Shape::kBytes && IsEmpty(*type.element, value);
      no_bytes ? sink_.Bytes("") : One(*type.element, value);
    }
    sink_.EndObject();
  }

  // JSONSchemaPropsOrBool and similar types.
  void Union(const Type& type, const void* object) {
    const Field* schema = type.Find("schema");
    const Field& other = &type.fields[0] == schema ? type.fields[1] : type.fields[0];
    const void* target =
        PointedTo(*schema->type, static_cast<const char*>(object) + schema->offset);
    const void* alternative = static_cast<const char*>(object) + other.offset;
    // As in Go, a list takes precedence over a schema, but a schema over a bool.
    bool prefer_other = type.codec != Codec::kSchemaOrBool && !IsEmpty(*other.type, alternative);
    if (target != nullptr && !prefer_other) return One(*schema->type, target);
    One(*other.type, alternative);
  }

  Sink& sink_;
  bool names_embedded_ = false;
};

}  // namespace

void Encode(const Type& type, const void* object, std::string* out, const TypeMeta* meta) {
  TextSink sink(out);
  Encoder<TextSink>(&sink).Run(type, object, meta);
}

Value ToValue(const Type& type, const void* object) {
  Value value;
  ValueSink sink(&value);
  Encoder<ValueSink>(&sink).Run(type, object, nullptr);
  return value;
}

}  // namespace cox::json
