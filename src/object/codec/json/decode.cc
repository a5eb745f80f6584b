// SPDX-License-Identifier: Apache-2.0
// Decodes text or a Value into structs: one decoder, two sources.
#include <algorithm>

#include "base/strings.h"
#include "object/codec/json/json.h"
#include "object/codec/json/reader.h"
#include "object/codec/json/text.h"
#include "object/codec/json/value_source.h"
#include "object/type/api_types.h"
#include "object/type/limits.h"
#include "object/type/pointer.h"

namespace cox::json {
namespace {

// The current position of the decoder, from inner to outer; converted to text only for errors.
struct Place {
  const Place* outer;
  const Type* in;         // the struct whose field this is; null for map entries and list items
  std::string_view name;  // of the field or map entry
  int64_t index = -1;     // of the list item
};

void AppendPath(const Place* place, std::string* path) {
  if (place == nullptr) return;
  AppendPath(place->outer, path);
  if (place->index >= 0) {
    path->append("[").append(std::to_string(place->index)).append("]");
  } else {
    if (!path->empty()) path->push_back('.');
    path->append(place->name);
  }
}

// Only the names of struct fields, as in Go's type errors.
void AppendFieldPath(const Place* place, std::string* path) {
  if (place == nullptr) return;
  AppendFieldPath(place->outer, path);
  if (place->in == nullptr) return;
  if (!path->empty()) path->push_back('.');
  path->append(place->name);
}

std::string_view TokenName(Token token) {
  static constexpr std::string_view kNames[] = {"null",  "bool",   "number", "string",
                                                "array", "object", ""};
  return kNames[static_cast<size_t>(token)];
}

// Source: Reader or ValueSource. Syntax errors stop decoding. A value of the wrong type does not:
// the first such error is kept and decoding continues, like in Go, so that syntax errors take
// precedence.
template <class Source>
class Decoder {
 public:
  Decoder(Source* source, size_t input_bytes, Strictness* strict)
      : source_(*source), strict_(strict), item_bytes_(limits::ItemBytes(input_bytes)) {}

  Status Run(const Type& type, void* object) {
    if (!Into(type, object, nullptr) || !source_.End()) return source_.status();
    return type_error_;
  }

 private:
  bool Into(const Type& type, void* to, const Place* place) {
    return Into(type, to, place, source_.Peek());
  }

  // Decodes a value of `type` into `to`. False only on a syntax error.
  bool Into(const Type& type, void* to, const Place* place, Token token) {
    if (token == Token::kError) return false;
    if (token == Token::kNull) return Null(type, to);
    switch (type.shape) {
      case Shape::kBool:
        if (token != Token::kBool) break;
        return source_.TakeBool(static_cast<bool*>(to));
      case Shape::kInt32:
      case Shape::kInt64:
        if (token != Token::kNumber) break;
        return Integer(type, to, place);
      case Shape::kDouble:
        if (token != Token::kNumber) break;
        return Double(type, to, place);
      case Shape::kString:
        if (token != Token::kString) break;
        return source_.TakeString(static_cast<std::string*>(to));
      case Shape::kBytes:
        if (token != Token::kString) break;
        return Bytes(to);
      case Shape::kQuantity:
      case Shape::kIntOrString:
      case Shape::kTime:
      case Shape::kMicroTime:
      case Shape::kDuration:
        return Special(type, to, token);
      case Shape::kRaw:
        return source_.TakeRaw(&static_cast<RawJson*>(to)->raw);
      case Shape::kStruct:
        if (type.codec != Codec::kFields) return Union(type, to, place, token);
        if (token != Token::kObject) break;
        return Struct(type, to, place);
      case Shape::kList:
        if (token != Token::kArray) break;
        return List(type, to, place);
      case Shape::kMap:
        if (token != Token::kObject) break;
        return MapEntries(type, to, place);
      case Shape::kAny:
        break;
    }
    RecordTypeError(TokenName(token), type, place);
    return source_.Skip();
  }

  bool Null(const Type& type, void* to) {
    if (type.shape == Shape::kList) type.list_ops->clear(*type.list_ops, to);
    if (type.shape == Shape::kMap) type.map_ops->Clear(to);
    return source_.TakeNull();
  }

  bool Struct(const Type& type, void* object, const Place* outer) {
    if (++depth_ > limits::kMaxTypedDepth) return source_.Fail("exceeded max depth");
    if (!source_.BeginObject()) return false;
    uint64_t seen[4] = {};
    size_t expected = 0;  // encoders keep an order, so try the following field first
    while (true) {
      std::string_view key;
      bool more;
      if (!source_.NextKey(&key, &more)) return false;
      if (!more) break;
      const Field* field = expected < type.fields.size() &&
                                   NameIndex::Same(type.fields[expected].name, key) &&
                                   !type.fields[expected].Has(Field::kInline)
                               ? &type.fields[expected]
                               : type.Find(key);
      if (field == nullptr || field->Has(Field::kInline)) {
        if (!Unknown(type, key, outer)) return false;
        continue;
      }
      auto row = static_cast<size_t>(field - type.fields.data());
      expected = row + 1;
      Place place{outer, &type, field->name};
      if (row < 256) {
        uint64_t bit = uint64_t{1} << row % 64;
        if ((seen[row / 64] & bit) != 0) Duplicate(&place);
        seen[row / 64] |= bit;
      }
      if (!IntoField(*field, static_cast<char*>(object) + field->offset, &place)) return false;
    }
    --depth_;
    return true;
  }

  bool Unknown(const Type& type, std::string_view key, const Place* outer) {
    bool type_meta = type.type_meta && (key == "kind" || key == "apiVersion");
    if (type_meta) {
      std::string name(key);
      Place place{outer, &type, name};
      std::string ignored;
      return Into(types::kString, &ignored, &place);
    }
    if (strict_ != nullptr) {
      Place place{outer, &type, key};
      std::string path;
      AppendPath(&place, &path);
      strict_->Unknown(path);
    }
    return source_.Skip();
  }

  bool IntoField(const Field& field, void* at, const Place* place) {
    Token token = source_.Peek();
    if (!field.Has(Field::kPointer)) return Into(*field.type, at, place, token);
    if (token == Token::kNull) {
      ResetPointer(*field.type, at);
      return Into(*field.type, at, place, token);
    }
    return Into(*field.type, EnsurePointedTo(*field.type, at), place, token);
  }

  bool List(const Type& type, void* list, const Place* outer) {
    type.list_ops->clear(*type.list_ops, list);
    if (!source_.BeginArray()) return false;
    for (int64_t index = 0;; ++index) {
      bool more;
      if (!source_.NextItem(&more)) return false;
      if (!more) return true;
      if (!ChargeMemory(type.list_ops->stride)) return false;
      Place place{outer, nullptr, {}, index};
      if (!Into(*type.element, type.list_ops->append(*type.list_ops, list), &place)) return false;
    }
  }

  // Deducts the size of one more item from the memory limit of the input.
  bool ChargeMemory(size_t bytes) {
    if (bytes > item_bytes_) return source_.Fail("document expands to too large an object");
    item_bytes_ -= bytes;
    return true;
  }

  bool MapEntries(const Type& type, void* map, const Place* outer) {
    type.map_ops->Clear(map);
    if (!source_.BeginObject()) return false;
    std::vector<std::string> keys;  // to name a duplicate key
    while (true) {
      std::string_view key;
      bool more;
      if (!source_.NextKey(&key, &more)) return false;
      if (!more) break;
      if (!ChargeMemory(type.map_ops->stride)) return false;
      void* value = type.map_ops->Append(map, key);
      // Reading the next value invalidates the key's text, and the next entry moves the map's copy,
      // so make a copy.
      bool scalar = type.element->IsScalar();
      std::string kept;
      if (!scalar || strict_ != nullptr) kept.assign(key);
      Place place{outer, nullptr, kept};
      if (strict_ != nullptr) keys.push_back(kept);
      if (!Into(*type.element, value, &place)) return false;
    }
    if (!type.map_ops->Seal(map) && strict_ != nullptr) DuplicateKeys(&keys, outer);
    return true;
  }

  void DuplicateKeys(std::vector<std::string>* keys, const Place* outer) {
    std::sort(keys->begin(), keys->end());
    for (size_t i = 1; i < keys->size(); ++i) {
      Place place{outer, nullptr, (*keys)[i]};
      if ((*keys)[i] == (*keys)[i - 1]) Duplicate(&place);
    }
  }

  void Duplicate(const Place* place) {
    if (strict_ == nullptr) return;
    std::string path;
    AppendPath(place, &path);
    strict_->Duplicate(path);
  }

  bool Integer(const Type& type, void* to, const Place* place) {
    Number number;
    if (!source_.TakeNumber(&number)) return false;
    if (number.integer && type.shape == Shape::kInt64) {
      *static_cast<int64_t*>(to) = number.value;
    } else if (number.integer && number.value == static_cast<int32_t>(number.value)) {
      *static_cast<int32_t*>(to) = static_cast<int32_t>(number.value);
    } else {
      RecordTypeError("number " + std::string(number.text), type, place);
    }
    return true;
  }

  bool Double(const Type& type, void* to, const Place* place) {
    Number number;
    if (!source_.TakeNumber(&number)) return false;
    if (!ToDouble(number.text, static_cast<double*>(to))) {
      RecordTypeError("number " + std::string(number.text), type, place);
    }
    return true;
  }

  bool Bytes(void* to) {
    std::string text;
    if (!source_.TakeString(&text)) return false;
    size_t bad_at;
    if (!ReadBase64(text, static_cast<std::string*>(to), &bad_at)) {
      Keep(Status::BadRequest("illegal base64 data at input byte " + std::to_string(bad_at)));
    }
    return true;
  }

  // Types with their own text format.
  bool Special(const Type& type, void* to, Token token) {
    if (token == Token::kNumber && type.shape == Shape::kIntOrString) {
      int32_t number = 0;
      if (!Integer(types::kInt32, &number, nullptr)) return false;
      *static_cast<IntOrString*>(to) = number;
      return true;
    }
    std::string text;
    if (token == Token::kNumber && type.shape == Shape::kQuantity) {
      Number number;
      if (!source_.TakeNumber(&number)) return false;
      text = number.text;
    } else if (token == Token::kString) {
      if (!source_.TakeString(&text)) return false;
    } else {
      // Go's decoders of these types do not have the position, so the error text has none.
      RecordTypeError(TokenName(token),
                      type.shape == Shape::kIntOrString ? types::kInt32 : types::kString, nullptr);
      return source_.Skip();
    }
    switch (type.shape) {
      case Shape::kQuantity:
        Assign<Quantity>(Quantity::Parse(TrimSpace(text)), to);
        break;
      case Shape::kTime:
        Assign<Time>(Time::Parse(text), to);
        break;
      case Shape::kMicroTime:
        Assign<MicroTime>(MicroTime::Parse(text), to);
        break;
      case Shape::kDuration:
        Assign<Duration>(Duration::Parse(text), to);
        break;
      default:
        *static_cast<IntOrString*>(to) = std::move(text);
    }
    return true;
  }

  template <class T>
  void Assign(Result<T> parsed, void* to) {
    if (parsed.ok()) {
      *static_cast<T*>(to) = *std::move(parsed);
    } else {
      Keep(parsed.status());
    }
  }

  // JSONSchemaPropsOrBool and similar types: the other field is the alternative to a schema.
  bool Union(const Type& type, void* object, const Place* place, Token token) {
    const Field* schema = type.Find("schema");
    const Field& other = &type.fields[0] == schema ? type.fields[1] : type.fields[0];
    bool allows = type.codec == Codec::kSchemaOrBool;
    if (token == Token::kObject) {
      if (allows) *reinterpret_cast<bool*>(static_cast<char*>(object) + other.offset) = true;
      return IntoField(*schema, static_cast<char*>(object) + schema->offset, place);
    }
    if (token == (allows ? Token::kBool : Token::kArray)) {
      return Into(*other.type, static_cast<char*>(object) + other.offset, place, token);
    }
    RecordTypeError(TokenName(token), type, place);
    return source_.Skip();
  }

  void RecordTypeError(std::string_view what, const Type& type, const Place* place) {
    if (!type_error_.ok()) return;
    std::string text = "json: cannot unmarshal " + std::string(what) + " into Go ";
    const Place* field = place;
    while (field != nullptr && field->in == nullptr) field = field->outer;
    if (field == nullptr) {
      text += "value of type ";
    } else {
      std::string_view name = field->in->name;
      text.append("struct field ").append(name.substr(name.rfind('.') + 1)).append(".");
      std::string path;
      AppendFieldPath(field, &path);
      text.append(path).append(" of type ");
    }
    Keep(Status::BadRequest(text.append(type.name)));
  }

  void Keep(Status type_error) {
    if (type_error_.ok()) type_error_ = std::move(type_error);
  }

  Source& source_;
  Strictness* strict_;
  Status type_error_;
  size_t item_bytes_;  // remaining
  int depth_ = 0;
};

}  // namespace

Status Decode(std::string_view text, const Type& type, void* object, Strictness* strict) {
  Reader reader(text);
  return Decoder<Reader>(&reader, text.size(), strict).Run(type, object);
}

Status FromValue(const Value& value, const Type& type, void* object, Strictness* strict) {
  ValueSource source(value);
  return Decoder<ValueSource>(&source, limits::kMaxBodyBytes, strict).Run(type, object);
}

Result<TypeMeta> PeekTypeMeta(std::string_view text) {
  Reader reader(text);
  TypeMeta meta;
  Token token = reader.Peek();
  if (token == Token::kError) return reader.status();
  if (token == Token::kNull)
    return reader.TakeNull() && reader.End() ? Result<TypeMeta>(meta) : reader.status();
  if (token != Token::kObject) {
    if (!reader.Skip() || !reader.End()) return reader.status();
    return Status::BadRequest(
        "json: cannot unmarshal " + std::string(TokenName(token)) +
        " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
        "Kind string \"json:\\\"kind,omitempty\\\"\" }");
  }
  if (!reader.BeginObject()) return reader.status();
  Status type_error;
  while (true) {
    std::string_view key;
    bool more;
    if (!reader.NextKey(&key, &more)) return reader.status();
    if (!more) break;
    std::string* to = key == "kind"         ? &meta.kind
                      : key == "apiVersion" ? &meta.api_version
                                            : nullptr;
    Token value = reader.Peek();
    if (to != nullptr && value == Token::kString) {
      if (!reader.TakeString(to)) return reader.status();
      continue;
    }
    if (to != nullptr && value != Token::kNull && type_error.ok()) {
      type_error =
          Status::BadRequest("json: cannot unmarshal " + std::string(TokenName(value)) +
                             " into Go struct field ." + std::string(key) + " of type string");
    }
    if (!reader.Skip()) return reader.status();
  }
  if (!reader.End()) return reader.status();
  if (!type_error.ok()) return type_error;
  return meta;
}

}  // namespace cox::json
