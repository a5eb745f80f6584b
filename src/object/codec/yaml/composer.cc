// SPDX-License-Identifier: Apache-2.0
#include "object/codec/yaml/composer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/strings.h"
#include "object/codec/json/text.h"
#include "object/codec/yaml/text_style.h"
#include "object/type/go_text.h"
#include "object/type/limits.h"

namespace cox::yaml {
namespace {

// The Go type of a map that was decoded from YAML.
constexpr std::string_view kMapType = "map[interface {}]interface {}";

// Replaces base64 text by the decoded text: invalid UTF-8 is replaced by U+FFFD, as in JSON. False
// if it is not base64.
bool DecodeBinary(std::string* text) {
  std::string bytes;
  size_t bad_at;
  if (!json::ReadBase64(*text, &bytes, &bad_at)) return false;
  *text = RepairUtf8(bytes);
  return true;
}

// 0xffffffffffffffff
std::string HexText(uint64_t value) {
  char buffer[16];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, 16);
  return "0x" + std::string(buffer, end.ptr);
}

using EventType = Event::Type;
using ScalarKind = Scalar::Kind;

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";
constexpr const char* kNoMap = "map merge requires map or sequence of maps as the value";
constexpr const char* kTooManyAliases = "document contains excessive aliasing";

// The byte limit of expanded aliases, in addition to goyaml's limit of nodes, because strings are
// nodes of any size. Sufficient for all documents written by hand.
constexpr uint64_t kAliasBytesFree = uint64_t{1} << 20;
constexpr uint64_t kAliasBytesPerByte = 8;

constexpr size_t kSmallArray = 1024;

// Keys that JSON does not support get a mark that valid text cannot contain, until CheckKeys()
// reports them.
constexpr std::string_view kNullKey = "\xFFnull";
constexpr std::string_view kUintKey = "\xFFuint";

Status BadYaml(std::string_view problem) {
  return Status::BadRequest("yaml: " + std::string(problem));
}

double AllowedAliasShare(int64_t decoded) {
  using namespace limits;  // NOLINT: the six constants of one rule
  if (decoded <= kYamlAliasLow) return kMaxYamlAliasShare;
  if (decoded >= kYamlAliasHigh) return kMinYamlAliasShare;
  double way = static_cast<double>(decoded - kYamlAliasLow) /
               static_cast<double>(kYamlAliasHigh - kYamlAliasLow);
  return kMaxYamlAliasShare - (kMaxYamlAliasShare - kMinYamlAliasShare) * way;
}

// Converts a float to the Value that its JSON would have: a number without a point is an integer.
Value NumberValue(double number) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (std::abs(number) <= kExact && number == std::trunc(number)) {
    return static_cast<int64_t>(number);
  }
  if (std::abs(number) >= 9223372036854775808.0 || number != std::trunc(number)) return number;
  Scalar read = Resolve(FormatG(number, 64, 21));
  return read.kind == ScalarKind::kInt ? Value(read.integer) : Value(number);
}

uint64_t StringBytes(std::string_view text, size_t inline_bytes) {
  return text.size() > inline_bytes ? text.size() : 0;
}

}  // namespace

Composer::Composer(std::string_view text, bool strict)
    : text_size_(text.size()), strict_(strict), parser_(text) {
  CollectAliasNames();
}

// Only anchors with an alias have to be kept. They are found by a scan of the text, which also
// finds names that are not aliases.
void Composer::CollectAliasNames() {
  std::string_view text = parser_.text();
  auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-';
  };
  auto tidy = [this] {
    std::sort(alias_names_.begin(), alias_names_.end());
    alias_names_.erase(std::unique(alias_names_.begin(), alias_names_.end()), alias_names_.end());
  };
  size_t tidy_at = 1024;
  for (size_t at = text.find('*'); at != text.npos; at = text.find('*', at)) {
    size_t end = ++at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) continue;
    alias_names_.push_back(text.substr(at, end - at));
    at = end;
    if (alias_names_.size() < tidy_at) continue;
    tidy();
    tidy_at = std::max<size_t>(1024, 2 * alias_names_.size());
  }
  tidy();
  slots_.resize(alias_names_.size());
}

int Composer::FindSlot(std::string_view name) const {
  auto at = std::lower_bound(alias_names_.begin(), alias_names_.end(), name);
  if (at == alias_names_.end() || *at != name) return -1;
  return static_cast<int>(at - alias_names_.begin());
}

Result<Value> Composer::Compose() {
  COX_RETURN_IF_ERROR(ComposeDocument());
  if (!decode_problem_.empty()) return BadYaml(decode_problem_);
  if (invalid_keys_ && duplicates_.empty()) COX_RETURN_IF_ERROR(CheckKeys(root_.value));
  if (invalid_numbers_) COX_RETURN_IF_ERROR(CheckNumbers(root_.value));
  return std::move(root_.value);
}

Status Composer::ComposeDocument() {
  Event event;
  do {
    if (!parser_.Next(&event)) return BadYaml(parser_.problem());
    COX_RETURN_IF_ERROR(Handle(&event));
  } while (event.type != EventType::kDocumentEnd && event.type != EventType::kStreamEnd);
  return {};
}

Status Composer::Handle(Event* event) {
  switch (event->type) {
    case EventType::kScalar:
      return AddScalar(event);
    case EventType::kAlias:
      return AddAlias(*event);
    case EventType::kSequenceStart:
    case EventType::kMappingStart:
      Open(*event);
      if (frames_.size() > static_cast<size_t>(limits::kMaxDepth)) {
        return BadYaml("exceeded max depth of 10000");
      }
      return {};
    case EventType::kSequenceEnd:
    case EventType::kMappingEnd:
      return Close();
    default:
      return {};
  }
}

void Composer::FailDecode(std::string problem) {
  if (decode_problem_.empty()) decode_problem_ = std::move(problem);
}

void Composer::CountDecoded(uint32_t count, uint32_t aliased) {
  decoded_ += count;
  aliased_ += aliased;
  if (aliased_ > limits::kYamlAliasFree && decoded_ > limits::kYamlDecodeFree &&
      static_cast<double>(aliased_) / static_cast<double>(decoded_) > AllowedAliasShare(decoded_)) {
    FailDecode(kTooManyAliases);
  }
}

void Composer::ChargeBytes(uint64_t bytes) {
  alias_bytes_ += bytes;
  if (alias_bytes_ > kAliasBytesFree + kAliasBytesPerByte * text_size_) FailDecode(kTooManyAliases);
}

Composer::More& Composer::MoreOf(Frame* frame) {
  if (frame->more == nullptr) frame->more = std::make_unique<More>();
  return *frame->more;
}

void Composer::Open(const Event& event) {
  const Frame* parent = frames_.empty() ? nullptr : &frames_.back();
  bool merge_value = parent != nullptr && parent->is_merge;
  bool merge_item = parent != nullptr && parent->merges_items;
  bool mapping = event.type == EventType::kMappingStart;
  Frame frame;
  frame.value = mapping ? Value(Value::Object()) : Value(Value::Array());
  frame.bytes = sizeof(Value) + sizeof(Value::Array);
  frame.line = event.line + 1;
  frame.offset = static_cast<uint32_t>(parser_.offset());
  frame.decoded_before = static_cast<uint32_t>(decoded_);
  frame.duplicates_before = static_cast<uint16_t>(duplicates_.size());
  if (!event.anchor.empty()) frame.slot = FindSlot(event.anchor);
  if (frame.slot >= 0) slots_[frame.slot].defined = slots_[frame.slot].open = true;
  frame.merges_items = merge_value && !mapping;
  frame.keeps_pairs = strict_ && mapping && (merge_value || merge_item || frame.slot >= 0);
  CountDecoded(1, 0);
  frames_.push_back(std::move(frame));
}

Status Composer::Close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  Node node;
  node.kind = frame.value.kind();
  node.line = frame.line;
  node.count = static_cast<uint32_t>(decoded_) - frame.decoded_before;
  node.height = frame.height;
  node.bytes = frame.bytes;
  if (frame.value.is_object()) {
    Seal(&frame, true);
    if (frame.keeps_pairs && frame.more != nullptr) {
      node.origin = std::make_unique<Origin>();
      node.origin->pairs = std::move(frame.more->pairs);
    }
  } else {
    // Arrays grow by doubling. Small ones release their unused capacity, because there may be many;
    // the rest of a large one was never touched, and a copy would cost more.
    Value::Array& items = frame.value.as_array();
    if (items.capacity() > items.size() && items.size() <= kSmallArray) items.shrink_to_fit();
    if (frame.merges_items && frame.more != nullptr) {
      node.origin = std::make_unique<Origin>();
      node.origin->merged = std::move(frame.more->merged);
    }
  }
  node.value = std::move(frame.value);
  if (frame.slot >= 0) Define(frame.slot, node, frame.duplicates_before);
  return Add(std::move(node));
}

void Composer::Define(int slot_index, const Node& node, size_t duplicates_before) {
  Slot& slot = slots_[slot_index];
  slot = Slot();
  slot.defined = true;
  slot.kind = node.kind;
  slot.scalar = node.scalar.kind;
  slot.number = node.scalar.kind == ScalarKind::kUint
                    ? static_cast<double>(node.scalar.unsigned_integer)
                    : node.scalar.number;
  slot.count = node.count;
  slot.height = node.height;
  slot.bytes = node.bytes;
  ChargeBytes(node.bytes);
  if (!decode_problem_.empty()) return;
  slot.value = node.value;
  if (node.origin != nullptr && !node.origin->pairs.empty()) {
    slot.pairs = std::make_unique<std::vector<Pair>>(node.origin->pairs);
  }
  if (duplicates_.size() > duplicates_before) {
    slot.duplicates = std::make_unique<std::vector<std::string>>();
    for (size_t i = duplicates_before; i < duplicates_.size(); ++i) {
      slot.duplicates->push_back(duplicates_[i].text);
    }
  }
}

Status Composer::AddAlias(const Event& event) {
  int index = FindSlot(event.anchor);
  if (index < 0 || !slots_[index].defined) {
    return BadYaml("unknown anchor '" + event.anchor + "' referenced");
  }
  Slot& slot = slots_[index];
  Node node;
  node.is_alias = true;
  node.line = event.line + 1;
  if (slot.open) {
    FailDecode("anchor '" + event.anchor + "' value contains itself");
  } else {
    CountDecoded(1 + slot.count, slot.count);
    ChargeBytes(slot.bytes);
  }
  if (!decode_problem_.empty()) return Add(std::move(node));
  if (frames_.size() + slot.height > static_cast<size_t>(limits::kMaxDepth)) {
    return BadYaml("exceeded max depth of 10000");
  }
  node.kind = slot.kind;
  node.scalar.kind = slot.scalar;
  node.scalar.number = slot.number;
  node.scalar.unsigned_integer =
      slot.scalar == ScalarKind::kUint ? static_cast<uint64_t>(slot.number) : 0;
  node.value = slot.value;
  node.count = 1 + slot.count;
  node.height = slot.height;
  node.bytes = slot.bytes;
  if (slot.pairs != nullptr) {
    node.origin = std::make_unique<Origin>();
    node.origin->pairs = *slot.pairs;
  }
  if (slot.duplicates != nullptr && duplicates_.size() < limits::kMaxStrictErrors) {
    for (const std::string& text : *slot.duplicates) duplicates_.push_back({pairs_, text});
  }
  return Add(std::move(node));
}

Scalar Composer::DecodeScalar(const Event& event, std::string* text) {
  if (event.tag.empty()) return event.plain ? Resolve(*text) : Scalar();
  if (!event.tag.starts_with(kCoreTags)) return {};
  std::string_view tag = std::string_view(event.tag).substr(kCoreTags.size());
  if (tag == "binary") {
    if (!DecodeBinary(text)) FailDecode("!!binary value contains invalid base64 data");
    return {};
  }
  bool wants_time = tag == "timestamp";
  if (!wants_time && tag != "int" && tag != "float" && tag != "bool" && tag != "null") return {};
  Scalar scalar = Resolve(*text);
  bool fits =
      wants_time ? scalar.kind == ScalarKind::kTimestamp : scalar.ShortTag().substr(2) == tag;
  if (!fits && tag == "float" && scalar.kind == ScalarKind::kInt) {
    scalar = {.kind = ScalarKind::kFloat, .number = static_cast<double>(scalar.integer)};
  } else if (!fits) {
    FailDecode("cannot decode " + std::string(scalar.ShortTag()) + " `" + *text + "` as a !!" +
               std::string(tag));
  }
  return scalar;
}

Status Composer::AddScalar(Event* event) {
  Node node;
  node.line = event->line + 1;
  bool is_key = !frames_.empty() && frames_.back().value.is_object() && !frames_.back().has_key;
  node.is_merge_key =
      is_key && event->value == "<<" && (event->implicit || event->tag == kMergeTag);
  bool merged = !frames_.empty() && (frames_.back().is_merge || frames_.back().merges_items);
  // A scalar cannot be merged, so its value does not matter.
  if (!merged) node.scalar = DecodeScalar(*event, &event->value);
  switch (node.scalar.kind) {
    case ScalarKind::kNull:
      break;
    case ScalarKind::kBool:
      node.value = node.scalar.boolean;
      break;
    case ScalarKind::kInt:
      node.value = node.scalar.integer;
      break;
    case ScalarKind::kUint:
      node.value = static_cast<double>(node.scalar.unsigned_integer);
      break;
    case ScalarKind::kFloat:
      if (!std::isfinite(node.scalar.number)) invalid_numbers_ = true;
      node.value = NumberValue(node.scalar.number);
      break;
    case ScalarKind::kString:
    case ScalarKind::kTimestamp:
    case ScalarKind::kMerge:
      node.scalar.kind = ScalarKind::kString;
      node.value = event->value;
      break;
  }
  node.bytes = sizeof(Value) + StringBytes(event->value, 8);
  if (!node.is_merge_key) CountDecoded(1, 0);
  if (event->anchor.empty() && !frames_.empty() && frames_.back().value.is_array() && !merged) {
    return AddItem(&frames_.back(), &node);
  }
  if (!event->anchor.empty()) {
    if (int slot = FindSlot(event->anchor); slot >= 0) Define(slot, node, duplicates_.size());
  }
  return Add(std::move(node));
}

Status Composer::Add(Node node) {
  if (frames_.empty()) {
    root_ = std::move(node);
    return {};
  }
  Frame& frame = frames_.back();
  if (!frame.value.is_object()) return AddItem(&frame, &node);
  if (!decode_problem_.empty()) return {};  // only syntax errors still matter
  frame.bytes += node.bytes;
  frame.height = std::max<uint16_t>(frame.height, node.height + 1);
  return AddToMapping(&frame, std::move(node));
}

Status Composer::AddItem(Frame* frame, Node* node) {
  if (!decode_problem_.empty()) return {};
  frame->bytes += node->bytes;
  frame->height = std::max<uint16_t>(frame->height, node->height + 1);
  if (frame->merges_items) {
    MoreOf(frame).merged.push_back(std::move(*node));
  } else {
    Value::Array& items = frame->value.as_array();
    if (items.size() == items.capacity() && items.size() >= kSmallArray) Grow(frame);
    items.push_back(std::move(node->value));
  }
  return {};
}

// Doubling a long list needs three times its memory while it moves, so estimate the number of
// remaining items from the remaining text.
void Composer::Grow(Frame* frame) {
  Value::Array& items = frame->value.as_array();
  size_t read = parser_.offset() - frame->offset;
  size_t more =
      (parser_.text().size() - parser_.offset()) / std::max<size_t>(read / items.size(), 1);
  items.reserve(items.size() + std::max(more + more / 64, items.size() / 4));
}

Status Composer::AddToMapping(Frame* frame, Node node) {
  if (!frame->has_key) {
    frame->has_key = true;
    frame->is_merge = node.is_merge_key;
    if (node.kind != Value::Kind::kNull) {
      FailDecode("invalid map key: " + GoSyntax(node.value, kMapType));
    } else if (!node.is_merge_key) {
      MoreOf(frame).key = KeyText(node);
      MoreOf(frame).key_kind = node.scalar.kind;
    }
    return {};
  }
  frame->has_key = false;
  if (frame->is_merge) {
    frame->is_merge = false;
    Merge(frame, &node);
    return {};
  }
  More& more = MoreOf(frame);
  Value::Object& members = frame->value.as_object();
  frame->bytes += sizeof(std::string) + StringBytes(more.key, 15);
  if (strict_) more.pairs.push_back({node.line, pairs_++, more.key_kind});
  members.Append(std::move(more.key), std::move(node.value));
  more.key.clear();
  if (members.size() >= more.seal_at) Seal(frame, false);
  return {};
}

void Composer::Merge(Frame* frame, Node* from) {
  if (from->kind == Value::Kind::kObject) return MergeMembers(frame, from);
  bool sequence = from->kind == Value::Kind::kArray && !from->is_alias;
  if (!sequence) return FailDecode(kNoMap);
  if (from->origin == nullptr) return;
  // From last to first, so that the keys of the first one win.
  std::vector<Node>& items = from->origin->merged;
  for (size_t i = items.size(); i-- > 0;) {
    if (items[i].kind != Value::Kind::kObject) return FailDecode(kNoMap);
    MergeMembers(frame, &items[i]);
  }
}

// Adds the pairs as if they were written here: later ones replace earlier ones, in both directions.
void Composer::MergeMembers(Frame* frame, Node* from) {
  Value::Object& members = frame->value.as_object();
  More& more = MoreOf(frame);
  size_t i = 0;
  for (ValueObject::Member& member : from->value.as_object()) {
    if (strict_) {
      Pair pair = {from->line, 0, ScalarKind::kString};
      if (from->origin != nullptr && i < from->origin->pairs.size()) pair = from->origin->pairs[i];
      pair.order = pairs_++;
      more.pairs.push_back(pair);
    }
    members.Append(std::move(member.key), std::move(member.value));
    ++i;
  }
  if (members.size() >= more.seal_at) Seal(frame, false);
}

// Sorts the members and keeps only the last of each key.
void Composer::Seal(Frame* frame, bool last) {
  Value::Object& members = frame->value.as_object();
  if (members.empty()) return;
  if (strict_) ReportDuplicates(members, &MoreOf(frame).pairs, last && !frame->keeps_pairs);
  members.Seal();
  More& more = MoreOf(frame);
  more.seal_at = std::max(more.seal_at, 2 * members.size());
}

// Reports members with duplicate keys, and sorts `pairs` like the members, unless this is the
// `last` call that needs them.
void Composer::ReportDuplicates(const Value::Object& members, std::vector<Pair>* pairs, bool last) {
  const auto at = members.begin();
  auto not_rising = [](const ValueObject::Member& a, const ValueObject::Member& b) {
    return !(a.key < b.key);
  };
  if (std::adjacent_find(at, members.end(), not_rising) == members.end()) return;
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    int by_key = at[a].key.compare(at[b].key);
    return by_key != 0 ? by_key < 0 : a < b;
  });
  std::vector<Pair> kept;
  for (size_t i = 0; i < order.size(); ++i) {
    const Pair& pair = (*pairs)[order[i]];
    const std::string& key = at[order[i]].key;
    bool again = i > 0 && at[order[i - 1]].key == key;
    if (again && !last) kept.pop_back();
    if (!last) kept.push_back(pair);
    if (again && (*pairs)[order[i - 1]].key == pair.key &&
        duplicates_.size() < limits::kMaxStrictErrors) {
      duplicates_.push_back({pair.order, "  line " + std::to_string(pair.line) + ": key " +
                                             KeySyntax(key, pair.key) + " already set in map"});
    }
  }
  *pairs = std::move(kept);
}

std::string Composer::strict_error() const {
  if (duplicates_.empty()) return {};
  std::vector<const Duplicate*> sorted;
  for (const Duplicate& duplicate : duplicates_) sorted.push_back(&duplicate);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Duplicate* a, const Duplicate* b) { return a->order < b->order; });
  std::string text = "yaml: unmarshal errors:";
  for (const Duplicate* duplicate : sorted) text += "\n" + duplicate->text;
  return text;
}

std::string Composer::KeyText(const Node& node) {
  switch (node.scalar.kind) {
    case ScalarKind::kNull:
      invalid_keys_ = true;
      return std::string(kNullKey);
    case ScalarKind::kUint:
      invalid_keys_ = true;
      return std::string(kUintKey) + HexText(node.scalar.unsigned_integer);
    case ScalarKind::kBool:
      return node.value.as_bool() ? "true" : "false";
    case ScalarKind::kInt:
      return std::to_string(node.value.as_int());
    case ScalarKind::kFloat: {
      std::string text = FormatG(node.scalar.number, 32);
      return text == "+Inf" ? ".inf" : text == "-Inf" ? "-.inf" : text == "NaN" ? ".nan" : text;
    }
    default:
      return std::string(node.value.as_string());
  }
}

std::string Composer::KeySyntax(std::string_view key, ScalarKind kind) {
  if (kind == ScalarKind::kString) return Quote(key);
  if (kind == ScalarKind::kNull) return "<nil>";
  if (kind == ScalarKind::kUint) return std::string(key.substr(kUintKey.size()));
  return std::string(key);
}

Status Composer::CheckKeys(const Value& value) const {
  if (value.is_array()) {
    for (const Value& item : value.as_array()) COX_RETURN_IF_ERROR(CheckKeys(item));
  }
  if (!value.is_object()) return {};
  for (const auto& [key, member] : value.as_object()) {
    bool null = key == kNullKey;
    if (null || key.starts_with(kUintKey)) {
      return Status::BadRequest(
          "unsupported map key of type: " + std::string(null ? "%!s(<nil>)" : "uint64") +
          ", key: " + KeySyntax(key, null ? ScalarKind::kNull : ScalarKind::kUint) +
          ", value: " + (member.is_null() ? "<nil>" : GoSyntax(member, kMapType)));
    }
    COX_RETURN_IF_ERROR(CheckKeys(member));
  }
  return {};
}

Status Composer::CheckNumbers(const Value& value) const {
  if (value.is_double() && !std::isfinite(value.as_double())) {
    return Status::BadRequest("json: unsupported value: " + FormatG(value.as_double()));
  }
  if (value.is_array()) {
    for (const Value& item : value.as_array()) COX_RETURN_IF_ERROR(CheckNumbers(item));
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) COX_RETURN_IF_ERROR(CheckNumbers(member));
  }
  return {};
}

}  // namespace cox::yaml
