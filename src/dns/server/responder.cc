// SPDX-License-Identifier: Apache-2.0
#include "dns/server/responder.h"

#include <algorithm>
#include <random>
#include <utility>

namespace cox::dns {
namespace {

constexpr uint16_t kIxfr = 251;
constexpr uint16_t kMailA = 254;
constexpr int kMostAliases = 8;
constexpr const char* kOwnZone = "cluster";
constexpr const char* kOtherZones = ".";

std::string TypeName(uint16_t type) {
  switch (type) {
    case kA:
      return "A";
    case kAaaa:
      return "AAAA";
    case kSrv:
      return "SRV";
    case kPtr:
      return "PTR";
    case kCname:
      return "CNAME";
    case kTxt:
      return "TXT";
    case kSoa:
      return "SOA";
    case kNs:
      return "NS";
    default:
      return "other";  // clients choose the number: the number of label values must be bounded
  }
}

std::string RcodeName(Rcode code) {
  switch (code) {
    case Rcode::kOk:
      return "NOERROR";
    case Rcode::kFormErr:
      return "FORMERR";
    case Rcode::kServFail:
      return "SERVFAIL";
    case Rcode::kNxDomain:
      return "NXDOMAIN";
    case Rcode::kNotImp:
      return "NOTIMP";
    case Rcode::kRefused:
      return "REFUSED";
    case Rcode::kBadVers:
      return "BADVERS";
  }
  return "other";
}

Rcode Judge(const Query& query) {
  if (query.refused != Rcode::kOk) return query.refused;
  if (query.klass != kClassIn) return Rcode::kRefused;
  const bool transfer_or_any = query.type >= kIxfr && query.type <= kAny;
  if (transfer_or_any && query.type != kMailA) return Rcode::kRefused;
  return query.type == kOpt ? Rcode::kFormErr : Rcode::kOk;
}

Query MakeQuery(const std::string& name, uint16_t type) {
  Query query;
  query.recursion_desired = true;
  query.name = name;
  query.type = type;
  query.klass = kClassIn;
  query.question = NormalQuestion(query);
  return query;
}

}  // namespace

Responder::Responder(const Zone& zone, Forwarder& forwarder, Clock& clock, Metrics& metrics,
                     Logger log)
    : zone_(zone), forwarder_(forwarder), clock_(clock), metrics_(metrics), log_(std::move(log)) {
  std::random_device device;
  shuffle_.seed(device());
  probe_ = std::to_string(device()) + "-" + std::to_string(device()) + ".loop-probe";
}

void Responder::Finish(const Query& query, bool tcp, const char* zone, Clock::SteadyTime start,
                       Answer answer, const Reply& reply) {
  // Many clients use the first address, so the order is shuffled to spread the load.
  const auto aliases_end = std::find_if(answer.answers.begin(), answer.answers.end(),
                                        [](const Record& record) { return record.type != kCname; });
  std::shuffle(aliases_end, answer.answers.end(), shuffle_);
  metrics_.responses.With({zone, RcodeName(answer.rcode)}).Inc();
  metrics_.seconds.With({zone}).Observe(
      std::chrono::duration<double>(clock_.Monotonic() - start).count());
  reply(EncodeAnswer(query, answer, tcp ? 65'535 : UdpLimit(query)));
}

void Responder::Respond(std::string_view bytes, bool tcp, Reply reply) {
  const Clock::SteadyTime start = clock_.Monotonic();
  const std::optional<Query> query = ParseQuery(bytes);
  if (!query) return reply("");
  const char* proto = tcp ? "tcp" : "udp";
  if (const Rcode judged = Judge(*query); judged != Rcode::kOk) {
    metrics_.requests.With({kOtherZones, proto, TypeName(query->type)}).Inc();
    return Finish(*query, tcp, kOtherZones, start, {.rcode = judged}, reply);
  }
  std::optional<Answer> answer = zone_.Resolve(query->name, query->type);
  metrics_.requests.With({answer ? kOwnZone : kOtherZones, proto, TypeName(query->type)}).Inc();
  if (!answer) return Forward(*query, tcp, start, std::move(reply));
  const bool alias =
      answer->answers.size() == 1 && answer->answers[0].type == kCname && query->type != kCname;
  if (alias) return Follow(*query, tcp, start, *std::move(answer), std::move(reply), 0);
  Finish(*query, tcp, kOwnZone, start, *std::move(answer), reply);
}

void Responder::Forward(const Query& query, bool tcp, Clock::SteadyTime start, Reply reply) {
  if (query.name == probe_ && query.type == kHinfo) {
    loop_found_ = true;
    COX_ERROR(log_, Status::Internal("the upstream servers send queries back to this one"),
              "Forwarding is off: give this server upstreams that are not itself");
  }
  if (loop_found_ || !query.recursion_desired || !forwarder_.enabled()) {
    const Rcode code = loop_found_ ? Rcode::kServFail : Rcode::kRefused;
    return Finish(query, tcp, kOtherZones, start, {.rcode = code}, reply);
  }
  forwarder_.Forward(
      query, tcp,
      [this, query, tcp, start, reply = std::move(reply)](std::optional<std::string> answer) {
        const auto scanned = answer ? ScanAnswer(*answer) : std::nullopt;
        if (!scanned) {
          return Finish(query, tcp, kOtherZones, start, {.rcode = Rcode::kServFail}, reply);
        }
        metrics_.responses.With({kOtherZones, RcodeName(scanned->rcode)}).Inc();
        metrics_.seconds.With({kOtherZones})
            .Observe(std::chrono::duration<double>(clock_.Monotonic() - start).count());
        if (tcp || answer->size() <= UdpLimit(query)) {
          return reply(*std::move(answer));
        }
        // Too long for UDP: set the TC bit, so that the client retries over TCP.
        std::string cut = EncodeAnswer(query, {.rcode = scanned->rcode}, 512);
        cut[2] = static_cast<char>(cut[2] | 2);
        reply(std::move(cut));
      });
}

void Responder::Follow(const Query& query, bool tcp, Clock::SteadyTime start, Answer answer,
                       Reply reply, int depth) {
  const std::string target = answer.answers.back().target;
  const uint32_t ttl = answer.answers.back().ttl;
  if (depth >= kMostAliases) {
    return Finish(query, tcp, kOwnZone, start, {.rcode = Rcode::kServFail}, reply);
  }
  if (std::optional<Answer> next = zone_.Resolve(target, query.type)) {
    const bool alias = next->answers.size() == 1 && next->answers[0].type == kCname;
    answer.answers.insert(answer.answers.end(), next->answers.begin(), next->answers.end());
    if (alias) {
      return Follow(query, tcp, start, std::move(answer), std::move(reply), depth + 1);
    }
    return Finish(query, tcp, kOwnZone, start, std::move(answer), reply);
  }
  if (loop_found_ || !forwarder_.enabled()) {
    return Finish(query, tcp, kOwnZone, start, std::move(answer), reply);
  }
  forwarder_.Forward(MakeQuery(target, query.type), true,
                     [this, query, tcp, start, target, ttl, answer = std::move(answer),
                      reply = std::move(reply)](const std::optional<std::string>& bytes) mutable {
                       const auto scanned = bytes ? ScanAnswer(*bytes) : std::nullopt;
                       if (!scanned)
                         return Finish(query, tcp, kOwnZone, start, {.rcode = Rcode::kServFail},
                                       reply);
                       for (const auto& [type, data] : scanned->addresses) {
                         if (type != query.type) continue;
                         answer.answers.push_back({.name = target,
                                                   .type = type,
                                                   .ttl = scanned->least_ttl.value_or(ttl),
                                                   .data = data});
                       }
                       Finish(query, tcp, kOwnZone, start, std::move(answer), reply);
                     });
}

void Responder::ProbeForLoop() {
  if (!forwarder_.enabled()) return;
  forwarder_.Forward(MakeQuery(probe_, kHinfo), false, [](const std::optional<std::string>&) {});
}

}  // namespace cox::dns
