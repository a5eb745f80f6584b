// SPDX-License-Identifier: Apache-2.0
#include "dns/server/forwarder.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <random>
#include <utility>

#include "base/strings.h"

namespace cox::dns {
namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;

uint16_t RandomId() {
  std::random_device device;
  return static_cast<uint16_t>(device());
}

// Longer answers are rare; the limit bounds the memory of the cache.
constexpr size_t kMaxCachedAnswer = kMaxUdpAnswer;

void SetId(uint16_t id, std::string* message) {
  (*message)[0] = static_cast<char>(id >> 8);
  (*message)[1] = static_cast<char>(id);
}

}  // namespace

std::optional<Upstream> ParseUpstream(std::string_view text) {
  Upstream out;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find("]:");
    if (end == std::string_view::npos) return std::nullopt;
    port = text.substr(end + 2);
    text = text.substr(1, end - 1);
  } else if (const size_t colon = text.find(':');
             colon != std::string_view::npos && text.rfind(':') == colon) {
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  Error error;
  out.ip = text;
  asio::ip::make_address(out.ip, error);
  if (error) return std::nullopt;
  if (port.data() == nullptr) return out;
  const auto [rest, failed] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (failed != std::errc() || rest != port.data() + port.size() || out.port == 0) {
    return std::nullopt;
  }
  return out;
}

std::vector<Upstream> ParseResolvConf(std::string_view text) {
  std::vector<Upstream> out;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view trimmed = TrimSpace(line);
    constexpr std::string_view kWord = "nameserver";
    if (!trimmed.starts_with(kWord) || trimmed.size() == kWord.size()) continue;
    std::string_view ip = TrimSpace(trimmed.substr(kWord.size()));
    ip = ip.substr(0, ip.find_first_of(" \t%#;"));
    Error error;
    asio::ip::make_address(std::string(ip), error);
    if (!error) out.push_back({.ip = std::string(ip)});
  }
  return out;
}

// One forwarded query, until it is answered or all upstreams were tried.
class Forwarder::Attempt : public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(Forwarder& owner, const Query& query, bool tcp, std::string key, Done done)
      : owner_(owner),
        query_(query),
        question_(NormalQuestion(query)),
        client_tcp_(tcp),
        key_(std::move(key)),
        first_(owner.first_),
        done_(std::move(done)),
        udp_(owner.loop_),
        tcp_(owner.loop_),
        timer_(owner.loop_) {
    ++owner_.in_flight_;
  }

  void Next() {
    const auto& upstreams = owner_.options_.upstreams;
    Close();
    if (tried_ >= upstreams.size() * static_cast<size_t>(owner_.options_.rounds)) {
      owner_.metrics_.forward_failures.Inc();
      return End(std::nullopt);
    }
    at_ = (first_ + tried_++) % upstreams.size();
    upstream_ = upstreams[at_];
    ++generation_;
    id_ = RandomId();
    request_ = EncodeQuery(query_, id_);
    Error error;
    const auto address = asio::ip::make_address(upstream_.ip, error);
    const asio::ip::udp::endpoint to(address, upstream_.port);
    if (!error) udp_.open(to.protocol(), error);
    if (!error) udp_.connect(to, error);  // the kernel drops datagrams from other senders
    if (!error) udp_.send(asio::buffer(request_), 0, error);
    if (error) return Next();  // no route: try the next one immediately
    StartTimer();
    Receive();
  }

 private:
  void StartTimer() {
    timer_.expires_after(owner_.options_.timeout);
    timer_.async_wait([self = shared_from_this(), now = generation_](const Error& error) {
      if (!error && now == self->generation_ && self->done_) self->Next();
    });
  }

  void Receive() {
    buffer_.resize(4096);
    udp_.async_receive(asio::buffer(buffer_), [self = shared_from_this(), now = generation_](
                                                  const Error& error, size_t size) {
      if (now != self->generation_ || !self->done_) return;
      if (error) return self->Next();  // connection refused: try the next one immediately
      if (!self->Take(std::string_view(self->buffer_).substr(0, size), false)) self->Receive();
    });
  }

  // False: not a response to this query; the right one may still arrive.
  bool Take(std::string_view bytes, bool over_tcp) {
    const auto scanned = ScanAnswer(bytes);
    if (!scanned || scanned->id != id_ || scanned->question != question_) return false;
    if (scanned->truncated && !over_tcp && client_tcp_) {
      QueryOverTcp();
      return true;
    }
    // SERVFAIL or REFUSED: try the next upstream.
    if ((scanned->rcode == Rcode::kServFail || scanned->rcode == Rcode::kRefused) &&
        tried_ < owner_.options_.upstreams.size()) {
      Next();
      return true;
    }
    if (scanned->rcode != Rcode::kServFail && scanned->rcode != Rcode::kRefused) {
      owner_.first_ = at_;
    }
    std::string answer(bytes);
    if (!scanned->truncated) owner_.Store(key_, answer, *scanned);
    SetId(query_.id, &answer);
    End(std::move(answer));
    return true;
  }

  void QueryOverTcp() {
    Close();
    ++generation_;
    StartTimer();
    Error error;
    const auto address = asio::ip::make_address(upstream_.ip, error);
    framed_.assign({static_cast<char>(request_.size() >> 8), static_cast<char>(request_.size())});
    framed_ += request_;
    const auto fails = [self = shared_from_this(), now = generation_](const Error& failed) {
      if (now != self->generation_ || !self->done_) return true;
      if (failed) self->Next();
      return static_cast<bool>(failed);
    };
    tcp_.async_connect({address, upstream_.port}, [this, fails](const Error& connected) {
      if (fails(connected)) return;
      asio::async_write(tcp_, asio::buffer(framed_), [this, fails](const Error& sent, size_t) {
        if (fails(sent)) return;
        buffer_.resize(2);
        asio::async_read(tcp_, asio::buffer(buffer_), [this, fails](const Error& read, size_t) {
          if (fails(read)) return;
          buffer_.resize(static_cast<size_t>(static_cast<uint8_t>(buffer_[0])) << 8 |
                         static_cast<uint8_t>(buffer_[1]));
          asio::async_read(tcp_, asio::buffer(buffer_), [this, fails](const Error& all, size_t) {
            if (fails(all)) return;
            if (!Take(buffer_, true)) Next();
          });
        });
      });
    });
  }

  void Close() {
    Error ignored;
    udp_.close(ignored);
    tcp_.close(ignored);
  }
  void End(std::optional<std::string> answer) {
    Close();
    timer_.cancel();
    --owner_.in_flight_;
    const Done done = std::exchange(done_, nullptr);
    done(std::move(answer));
  }

  Forwarder& owner_;
  const Query query_;
  const std::string question_;
  const bool client_tcp_;
  const std::string key_;
  const size_t first_;
  Done done_;
  asio::ip::udp::socket udp_;
  asio::ip::tcp::socket tcp_;
  asio::steady_timer timer_;
  Upstream upstream_;
  size_t at_ = 0;  // its index
  size_t tried_ = 0;
  int generation_ = 0;  // ignores callbacks of earlier tries
  uint16_t id_ = 0;
  std::string request_;
  std::string framed_;
  std::string buffer_;
};

Forwarder::Forwarder(asio::io_context& loop, Clock& clock, ForwardOptions options, Metrics& metrics)
    : loop_(loop),
      clock_(clock),
      options_(std::move(options)),
      metrics_(metrics),
      cache_(std::max<size_t>(1, options_.cache_entries)) {}

Forwarder::~Forwarder() = default;

void Forwarder::Forward(const Query& query, bool tcp, Done done) {
  std::string key = NormalQuestion(query);
  key += query.edns ? (query.dnssec_ok ? 'd' : 'e') : '-';
  if (auto cached = FromCache(query, key)) {
    metrics_.cache_hits.Inc();
    return done(std::move(cached));
  }
  metrics_.cache_misses.Inc();
  if (!enabled() || in_flight_ >= options_.max_in_flight) {
    metrics_.forward_rejects.Inc();
    return done(std::nullopt);
  }
  std::make_shared<Attempt>(*this, query, tcp, std::move(key), std::move(done))->Next();
}

std::optional<std::string> Forwarder::FromCache(const Query& query, const std::string& key) {
  Cached* found = cache_.Find(key);
  if (found == nullptr) return std::nullopt;
  const Clock::SteadyTime now = clock_.Monotonic();
  if (now >= found->expires) {
    cache_.Erase(key);
    return std::nullopt;
  }
  std::string answer = found->answer;
  SetId(query.id, &answer);
  const auto age = static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now - found->stored).count());
  for (const size_t at : found->ttl_offsets) {
    uint32_t ttl = 0;
    for (size_t i = 0; i < 4; ++i) ttl = ttl << 8 | static_cast<uint8_t>(answer[at + i]);
    ttl = ttl > age ? ttl - age : 0;
    for (size_t i = 0; i < 4; ++i) answer[at + i] = static_cast<char>(ttl >> (24 - 8 * i));
  }
  // The question with the letter case of the current query.
  answer.replace(12, query.question.size(), query.question);
  return answer;
}

void Forwarder::Store(const std::string& key, const std::string& answer, const Scanned& scanned) {
  const bool worth = scanned.rcode == Rcode::kOk || scanned.rcode == Rcode::kNxDomain;
  if (!worth || scanned.least_ttl.value_or(0) == 0 || answer.size() > kMaxCachedAnswer) return;
  const auto seconds = std::min(options_.max_cached, std::chrono::seconds(*scanned.least_ttl));
  const Clock::SteadyTime now = clock_.Monotonic();
  cache_.Put(key, {answer, scanned.ttl_offsets, now, now + seconds});
}

}  // namespace cox::dns
