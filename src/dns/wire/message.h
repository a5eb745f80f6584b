// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// DNS messages (RFC 1035, EDNS0 of RFC 6891), as far as an authoritative server and a forwarder
// need them. The parser is strict: malformed input is an error.
namespace cox::dns {

enum Type : uint16_t {
  kA = 1,
  kNs = 2,
  kCname = 5,
  kSoa = 6,
  kPtr = 12,
  kHinfo = 13,
  kTxt = 16,
  kAaaa = 28,
  kSrv = 33,
  kOpt = 41,
  kAny = 255,
};
inline constexpr uint16_t kClassIn = 1;

enum class Rcode : uint16_t {
  kOk = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
  kBadVers = 16,
};

// A question. The name is lower case with dots between labels and none at the end; the root is "".
// Dots and non-printable bytes in a label are escaped as in master files: "\." and "\ddd".
struct Query {
  uint16_t id = 0;
  bool recursion_desired = false;
  std::string name;
  uint16_t type = 0;
  uint16_t klass = 0;
  // The question as received; the response repeats it with the same letter case.
  std::string question;
  bool edns = false;
  uint16_t udp_size = 512;
  bool dnssec_ok = false;

  // The error code to respond with, if the query is invalid.
  Rcode refused = Rcode::kOk;
};

// None: no response is possible (too short, or a response itself). Otherwise `refused` is the
// error, if there is one.
std::optional<Query> ParseQuery(std::string_view bytes);

// The name in wire format, without compression. Empty if a label or the whole name is too long.
std::string EncodeName(std::string_view name);

struct Record {
  std::string name;
  uint16_t type = 0;
  uint32_t ttl = 0;
  std::string data;     // A, AAAA, TXT: wire format; SRV: priority, weight, port
  std::string target;   // a name after the data: CNAME, PTR, NS, SRV, SOA's first
  std::string target2;  // SOA's second
  std::string tail;     // bytes after the names: SOA's numbers
  bool operator==(const Record&) const = default;
};

struct Answer {
  Rcode rcode = Rcode::kOk;
  bool authoritative = false;
  std::vector<Record> answers;
  std::vector<Record> authority;
  std::vector<Record> additional;
};

// At most `limit` bytes: records that do not fit are omitted, and the TC bit is set.
std::string EncodeAnswer(const Query& query, const Answer& answer, size_t limit);

// The maximum size of a UDP response to this query. 1,232 bytes avoid fragmentation and limit
// amplification attacks.
inline constexpr size_t kMaxUdpAnswer = 1232;
size_t UdpLimit(const Query& query);

// The parts of a response that a forwarder needs; the response itself is forwarded unchanged.
struct Scanned {
  uint16_t id = 0;
  Rcode rcode = Rcode::kOk;
  bool truncated = false;
  std::string question;               // name in lower case, type and class
  std::vector<size_t> ttl_offsets;    // of all records but OPT
  std::optional<uint32_t> least_ttl;  // of the answers; of the SOA if there are none
  // A and AAAA records of the answer, with any name.
  std::vector<std::pair<uint16_t, std::string>> addresses;
};
std::optional<Scanned> ScanAnswer(std::string_view bytes);

// A query to another server.
std::string EncodeQuery(const Query& query, uint16_t id);

// A question in the form of Scanned::question.
std::string NormalQuestion(const Query& query);

}  // namespace cox::dns
