// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/codec/yaml/parser.h"
#include "object/codec/yaml/resolve.h"
#include "object/type/value.h"

namespace cox::yaml {

// Creates a Value from the first document of a stream: resolves scalars, aliases and merge keys
// like goyaml's decoder, and converts keys to strings like sigs.k8s.io/yaml.
//
// Guarantees: the depth uses heap instead of stack, and is limited by limits::kMaxDepth, also for
//   nested aliases; the expansion of aliases is limited in nodes (like in goyaml) and in bytes.
// Errors: BadRequest. If a document has several errors, the order is that of upstream: first
//   syntax, then the first node that cannot be decoded, then keys and numbers that JSON cannot
//   represent.
class Composer {
 public:
  // With `strict`, duplicate keys are collected.
  Composer(std::string_view text, bool strict);

  Result<Value> Compose();
  // "yaml: unmarshal errors:\n  line 3: key \"a\" already set in map", or "".
  std::string strict_error() const;

 private:
  // The position of a pair of a mapping; kept in strict mode, in parallel with the mapping's
  // members.
  struct Pair {
    uint32_t line;
    uint32_t order;  // index among all pairs of the document
    Scalar::Kind key;
  };
  struct Duplicate {
    uint32_t order;
    std::string text;
  };
  struct Origin;
  // A finished node before it is added to its parent.
  struct Node {
    Value value;
    Scalar scalar;
    Value::Kind kind = Value::Kind::kNull;  // kArray, kObject, or kNull for any scalar
    bool is_merge_key = false;
    bool is_alias = false;
    uint32_t line = 0;
    uint32_t count = 1;   // number of nodes decoded for it
    uint16_t height = 0;  // number of levels below it
    uint64_t bytes = 0;   // approximate memory
    std::unique_ptr<Origin> origin;
  };
  // The positions of the parts of a node, for merging.
  struct Origin {
    std::vector<Pair> pairs;   // of a mapping, in the order of its members
    std::vector<Node> merged;  // the items of a sequence that is the value of "<<"
  };
  // Data that only some open nodes need.
  struct More {
    std::string key;
    Scalar::Kind key_kind = Scalar::Kind::kString;
    size_t seal_at = 64;  // number of members at which duplicates are dropped
    std::vector<Pair> pairs;
    std::vector<Node> merged;
  };
  // An open mapping or sequence. Small, because a few bytes of text can open many.
  struct Frame {
    Value value;
    std::unique_ptr<More> more;
    uint64_t bytes = 0;
    uint32_t line = 0;
    uint32_t decoded_before = 0;
    uint16_t height = 0;
    uint16_t duplicates_before = 0;
    uint32_t offset = 0;  // in the text
    int32_t slot = -1;    // of its anchor
    bool has_key = false;
    bool is_merge = false;      // its key was "<<"
    bool merges_items = false;  // a sequence that is the value of "<<"
    bool keeps_pairs = false;   // the positions of its pairs are needed later
  };
  // The node of an anchor.
  struct Slot {
    Value value;
    double number = 0;
    Value::Kind kind = Value::Kind::kNull;
    Scalar::Kind scalar = Scalar::Kind::kString;
    bool defined = false;
    bool open = false;  // its node is not finished
    uint16_t height = 0;
    uint32_t count = 0;
    uint64_t bytes = 0;
    std::unique_ptr<std::vector<Pair>> pairs;
    std::unique_ptr<std::vector<std::string>> duplicates;
  };

  static More& MoreOf(Frame* frame);
  Status ComposeDocument();
  Status Handle(Event* event);
  void Open(const Event& event);
  Status Close();
  Status AddScalar(Event* event);
  Status AddAlias(const Event& event);
  Status Add(Node node);
  Status AddItem(Frame* frame, Node* node);
  void Grow(Frame* frame);
  Status AddToMapping(Frame* frame, Node node);
  void Merge(Frame* frame, Node* from);
  void MergeMembers(Frame* frame, Node* from);
  void Seal(Frame* frame, bool last);
  void ReportDuplicates(const Value::Object& members, std::vector<Pair>* pairs, bool last);

  Scalar DecodeScalar(const Event& event, std::string* text);
  std::string KeyText(const Node& node);
  static std::string KeySyntax(std::string_view key, Scalar::Kind kind);

  void CollectAliasNames();
  int FindSlot(std::string_view name) const;
  void Define(int slot, const Node& node, size_t duplicates_before);
  void CountDecoded(uint32_t count, uint32_t aliased);
  void ChargeBytes(uint64_t bytes);
  // Keeps the first error and continues, because a syntax error takes precedence.
  void FailDecode(std::string problem);
  Status CheckKeys(const Value& value) const;
  Status CheckNumbers(const Value& value) const;

  size_t text_size_;
  bool strict_;
  Parser parser_;
  std::deque<Frame> frames_;
  Node root_;
  std::string decode_problem_;
  std::vector<std::string_view> alias_names_;  // sorted; one slot each
  std::vector<Slot> slots_;
  std::vector<Duplicate> duplicates_;
  int64_t decoded_ = 1;  // the document itself
  int64_t aliased_ = 0;
  uint64_t alias_bytes_ = 0;
  uint32_t pairs_ = 0;
  bool invalid_keys_ = false;     // a key that JSON does not support
  bool invalid_numbers_ = false;  // infinity or NaN
};

}  // namespace cox::yaml
