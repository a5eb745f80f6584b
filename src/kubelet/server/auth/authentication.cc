// SPDX-License-Identifier: Apache-2.0
#include "kubelet/server/auth/authentication.h"

#include <openssl/x509.h>

#include "base/strings.h"

namespace cox::kubelet {
namespace {

using authentication::v1::TokenReview;

constexpr std::string_view kAuthenticated = "system:authenticated";
// Rejections expire quickly, because the user or token may be new.
constexpr std::chrono::seconds kRejectedTtl{10};
constexpr std::chrono::seconds kTimeout{10};

Status Unauthorized() { return {Reason::kUnauthorized, "Unauthorized"}; }

std::vector<std::string> Entries(X509_NAME* name, int attribute) {
  std::vector<std::string> entries;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, attribute, at)) >= 0;) {
    unsigned char* utf8 = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    entries.emplace_back(reinterpret_cast<char*>(utf8), static_cast<size_t>(size));
    OPENSSL_free(utf8);
  }
  return entries;
}

std::string BearerToken(const net::Request& request) {
  const auto header = request.headers.Get("authorization");
  if (!header) return {};
  const CutResult cut = Cut(*header, ' ');
  std::string scheme(cut.before);
  for (char& c : scheme) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return scheme == "bearer" ? std::string(TrimSpace(cut.after)) : std::string();
}

}  // namespace

Result<User> UserOfCertificate(const std::string& leaf) {
  const auto* data = reinterpret_cast<const unsigned char*>(leaf.data());
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      d2i_X509(nullptr, &data, static_cast<long>(leaf.size())), &X509_free);
  if (certificate == nullptr) return Status::BadRequest("the certificate does not parse");
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  std::vector<std::string> names = Entries(subject, NID_commonName);
  if (names.empty() || names.front().empty()) return Unauthorized();
  User user;
  user.username = std::move(names.front());
  user.groups = Entries(subject, NID_organizationName);
  user.groups.emplace_back(kAuthenticated);
  return user;
}

Authentication::Authentication(Private /*unused*/, AuthenticationOptions options, Client* client)
    : options_(std::move(options)), client_(client) {}

Result<std::unique_ptr<Authentication>> Authentication::Create(const Context& ctx,
                                                               AuthenticationOptions options,
                                                               Client* client) {
  auto made = std::make_unique<Authentication>(Private{}, std::move(options), client);
  const std::string& file = made->options_.client_ca_file;
  if (!file.empty()) {
    using Ptr = WatchedFile<net::TrustedCas>::Ptr;
    COX_ASSIGN_OR_RETURN(made->cas_, WatchedFile<net::TrustedCas>::Open(
                                         ctx, {.name = "client-ca", .paths = {file}},
                                         [](std::span<const std::string> texts) -> Result<Ptr> {
                                           return net::TrustedCas::Parse(texts[0]);
                                         }));
  }
  return made;
}

Result<User> Authentication::Authenticate(Context& ctx, const net::Request& request) {
  if (cas_ != nullptr && request.peer != nullptr && !request.peer->certificates.empty()) {
    const auto cas = cas_->Current();
    if (cas->VerifyClient(request.peer->certificates, ctx.clock().Now()).ok()) {
      Result<User> user = UserOfCertificate(request.peer->certificates.front());
      if (user.ok()) return user;
    }
  }
  const std::string token = BearerToken(request);
  if (!token.empty()) {
    // An invalid token is rejected, not treated as anonymous.
    return options_.webhook && client_ != nullptr ? OfToken(ctx, token) : Unauthorized();
  }
  if (!options_.anonymous) return Unauthorized();
  User anonymous_user;
  anonymous_user.username = "system:anonymous";
  anonymous_user.groups = {"system:unauthenticated"};
  return anonymous_user;
}

Result<User> Authentication::OfToken(Context& ctx, const std::string& token) {
  const Clock::SteadyTime now = ctx.clock().Monotonic();
  {
    MutexLock lock(mu_);
    const CachedUser* known = known_.Find(token);
    if (known != nullptr && known->until > now) return known->user;
  }
  TokenReview review;
  review.spec.token = token;
  Context limit = ctx.WithTimeout(kTimeout);
  Result<TokenReview> answer = client_->Create(limit, std::move(review));
  // Errors are not cached.
  if (!answer.ok()) {
    COX_V(ctx.log(), 1, "TokenReview failed", {"why", answer.status().message()});
    return Unauthorized();
  }
  CachedUser result{Unauthorized(), now + kRejectedTtl};
  if (answer->status.authenticated) {
    result = {std::move(answer->status.user), now + options_.cache_ttl};
  }
  MutexLock lock(mu_);
  return known_.Put(token, std::move(result))->user;
}

}  // namespace cox::kubelet
