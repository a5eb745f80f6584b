// SPDX-License-Identifier: Apache-2.0
#include "dns/wire/message.h"

#include <algorithm>

#include "dns/wire/reader.h"

namespace cox::dns {
namespace {

constexpr size_t kHead = 12;
constexpr uint16_t kResponse = 0x8000;
constexpr uint16_t kOpcode = 0x7800;
constexpr uint16_t kAuthoritative = 0x0400;
constexpr uint16_t kTruncated = 0x0200;
constexpr uint16_t kRecursionDesired = 0x0100;
constexpr uint16_t kRecursionAvailable = 0x0080;

void Put16(std::string* out, uint16_t value) {
  *out += static_cast<char>(value >> 8);
  *out += static_cast<char>(value);
}
void Put32(std::string* out, uint32_t value) {
  Put16(out, static_cast<uint16_t>(value >> 16));
  Put16(out, static_cast<uint16_t>(value));
}

// Parses the OPT record, of which a query may have one; no bytes may follow the records.
Rcode ReadAdditional(Reader* in, uint16_t count, Query* query) {
  for (uint16_t i = 0; i < count; ++i) {
    const auto name = in->Name();
    const uint16_t type = in->U16();
    const uint16_t size = in->U16();
    const uint32_t ttl = in->U32();
    in->Skip(in->U16());
    if (!in->ok() || !name) return Rcode::kFormErr;
    if (type != kOpt) continue;
    if (query->edns || !name->empty()) return Rcode::kFormErr;
    query->edns = true;
    query->udp_size = size;
    query->dnssec_ok = (ttl & 0x8000) != 0;
    if ((ttl >> 16 & 0xff) != 0) return Rcode::kBadVers;
  }
  return in->at_end() ? Rcode::kOk : Rcode::kFormErr;
}

// Appends names with compression: a name with a known suffix points to its offset.
class Writer {
 public:
  explicit Writer(std::string* out) : out_(*out) {}

  void Name(std::string_view name) {
    std::string_view rest = name;
    while (!rest.empty()) {
      const auto known = places_.find(std::string(rest));
      if (known != places_.end()) {
        Put16(&out_, static_cast<uint16_t>(0xc000 | known->second));
        return;
      }
      if (out_.size() < 0x3fff) places_.emplace(rest, out_.size());
      const size_t end = LabelEnd(rest);
      out_ += EncodeName(rest.substr(0, end)).substr(0, LabelBytes(rest.substr(0, end)) + 1);
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    out_ += '\0';
  }
  void Remember(std::string_view name, size_t at) { places_.emplace(name, at); }

  void Put(const Record& record) {
    Name(record.name);
    Put16(&out_, record.type);
    Put16(&out_, kClassIn);
    Put32(&out_, record.ttl);
    const size_t at = out_.size();
    Put16(&out_, 0);
    out_ += record.data;
    // RFC 2782: targets of SRV are not compressed.
    if (record.type == kSrv) {
      out_ += EncodeName(record.target);
    } else if (!record.target.empty()) {
      Name(record.target);
    }
    if (!record.target2.empty()) Name(record.target2);
    out_ += record.tail;
    const size_t size = out_.size() - at - 2;
    out_[at] = static_cast<char>(size >> 8);
    out_[at + 1] = static_cast<char>(size);
  }
  // Truncates the message and drops the offsets of names that begin at `size` or later.
  void Cut(size_t size) {
    out_.resize(size);
    std::erase_if(places_, [size](const auto& place) { return place.second >= size; });
  }

 private:
  static size_t LabelEnd(std::string_view name) {
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '\\') {
        ++i;
      } else if (name[i] == '.') {
        return i;
      }
    }
    return name.size();
  }
  static size_t LabelBytes(std::string_view label) {
    const std::string encoded = EncodeName(label);
    return encoded.empty() ? 0 : static_cast<uint8_t>(encoded[0]);
  }

  std::string& out_;
  std::map<std::string, size_t> places_;
};

}  // namespace

std::optional<Query> ParseQuery(std::string_view bytes) {
  if (bytes.size() < kHead) return std::nullopt;
  Reader in(bytes);
  Query query;
  query.id = in.U16();
  const uint16_t flags = in.U16();
  if ((flags & kResponse) != 0) return std::nullopt;
  query.recursion_desired = (flags & kRecursionDesired) != 0;
  const uint16_t questions = in.U16();
  const uint16_t answers = in.U16();
  const uint16_t authority = in.U16();
  const uint16_t additional = in.U16();
  if ((flags & kOpcode) != 0) {
    query.refused = Rcode::kNotImp;
    return query;
  }
  query.refused = Rcode::kFormErr;
  if (questions != 1 || answers != 0 || authority != 0) return query;
  const auto name = in.Name();
  const size_t name_end = in.at();
  const uint16_t type = in.U16();
  const uint16_t klass = in.U16();
  if (!name || !in.ok()) return query;
  query.name = *name;
  query.type = type;
  query.klass = klass;
  query.question = std::string(bytes.substr(kHead, name_end + 4 - kHead));
  query.refused = ReadAdditional(&in, additional, &query);
  return query;
}

std::string EncodeName(std::string_view name) {
  std::string out;
  std::string label;
  const auto end_label = [&] {
    if (label.empty() || label.size() > 63) return false;
    out += static_cast<char>(label.size());
    out += label;
    label.clear();
    return true;
  };
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.') {
      if (!end_label()) return "";
    } else if (name[i] == '\\' && i + 3 < name.size() && name[i + 1] >= '0' && name[i + 1] <= '9') {
      const int code = (name[i + 1] - '0') * 100 + (name[i + 2] - '0') * 10 + (name[i + 3] - '0');
      label += static_cast<char>(code);
      i += 3;
    } else {
      if (name[i] == '\\' && i + 1 < name.size()) ++i;
      label += name[i];
    }
  }
  if (!name.empty() && !end_label()) return "";
  out += '\0';
  return out.size() > 255 ? "" : out;
}

size_t UdpLimit(const Query& query) {
  return query.edns ? std::clamp<size_t>(query.udp_size, 512, kMaxUdpAnswer) : 512;
}

std::string EncodeAnswer(const Query& query, const Answer& answer, size_t limit) {
  std::string out;
  uint16_t flags = kResponse | kRecursionAvailable;
  if (query.recursion_desired) flags |= kRecursionDesired;
  if (answer.authoritative) flags |= kAuthoritative;
  const auto code = static_cast<uint16_t>(answer.rcode);
  Put16(&out, query.id);
  Put16(&out, static_cast<uint16_t>(flags | (code & 0xf)));
  Put16(&out, query.question.empty() ? 0 : 1);
  out.resize(kHead);  // the counts are set below
  Writer writer(&out);
  if (!query.question.empty() && !query.name.empty()) writer.Remember(query.name, out.size());
  out += query.question;
  constexpr size_t kOptSize = 11;
  const size_t room = limit - (query.edns ? kOptSize : 0);
  const std::vector<Record>* sections[] = {&answer.answers, &answer.authority, &answer.additional};
  uint16_t counts[3] = {};
  bool full = false;
  for (size_t section = 0; section < 3; ++section) {
    for (const Record& record : *sections[section]) {
      const size_t before = out.size();
      if (!full) writer.Put(record);
      if (full || out.size() > room) {
        writer.Cut(before);
        full = true;
        // Additional records are optional: without them the answer is still complete.
        if (section < 2) out[2] = static_cast<char>(out[2] | kTruncated >> 8);
        break;
      }
      ++counts[section];
    }
  }
  if (query.edns) {
    ++counts[2];
    out += '\0';
    Put16(&out, kOpt);
    Put16(&out, kMaxUdpAnswer);
    Put32(&out, static_cast<uint32_t>(code >> 4) << 24);
    Put16(&out, 0);
  }
  for (size_t section = 0; section < 3; ++section) {
    out[6 + section * 2] = static_cast<char>(counts[section] >> 8);
    out[7 + section * 2] = static_cast<char>(counts[section]);
  }
  return out;
}

std::string EncodeQuery(const Query& query, uint16_t id) {
  std::string out;
  Put16(&out, id);
  Put16(&out, kRecursionDesired);
  Put16(&out, 1);
  for (int i = 0; i < 2; ++i) Put16(&out, 0);
  Put16(&out, query.edns ? 1 : 0);
  out += query.question;
  if (query.edns) {
    out += '\0';
    Put16(&out, kOpt);
    Put16(&out, kMaxUdpAnswer);
    Put32(&out, query.dnssec_ok ? 0x8000 : 0);
    Put16(&out, 0);
  }
  return out;
}

std::string NormalQuestion(const Query& query) {
  std::string out = EncodeName(query.name);
  Put16(&out, query.type);
  Put16(&out, query.klass);
  return out;
}

std::optional<Scanned> ScanAnswer(std::string_view bytes) {
  if (bytes.size() < kHead) return std::nullopt;
  Reader in(bytes);
  Scanned out;
  out.id = in.U16();
  const uint16_t flags = in.U16();
  if ((flags & kResponse) == 0) return std::nullopt;
  out.rcode = static_cast<Rcode>(flags & 0xf);
  out.truncated = (flags & kTruncated) != 0;
  const uint16_t questions = in.U16();
  const uint16_t counts[3] = {in.U16(), in.U16(), in.U16()};
  if (questions != 1) return std::nullopt;
  const auto name = in.Name();
  const uint16_t type = in.U16();
  const uint16_t klass = in.U16();
  if (!name || !in.ok()) return std::nullopt;
  out.question = EncodeName(*name);
  Put16(&out.question, type);
  Put16(&out.question, klass);
  for (int section = 0; section < 3; ++section) {
    for (uint16_t i = 0; i < counts[section]; ++i) {
      in.SkipName();
      const uint16_t record_type = in.U16();
      in.U16();
      const size_t at = in.at();
      uint32_t ttl = in.U32();
      const uint16_t size = in.U16();
      const size_t data = in.at();
      in.Skip(size);
      if (!in.ok()) return out.truncated ? std::optional(out) : std::nullopt;
      if (record_type == kOpt) continue;
      out.ttl_offsets.push_back(at);
      if (section == 0 && (record_type == kA || record_type == kAaaa)) {
        out.addresses.emplace_back(record_type, bytes.substr(data, size));
      }
      if (section == 1 && record_type == kSoa && size >= 4) {
        Reader minimum(bytes.substr(data + size - 4, 4));
        ttl = std::min(ttl, minimum.U32());
      }
      const bool counts_here =
          section == 0 || (section == 1 && counts[0] == 0 && record_type == kSoa);
      if (counts_here) out.least_ttl = std::min(out.least_ttl.value_or(ttl), ttl);
    }
  }
  return out;
}

}  // namespace cox::dns
