// SPDX-License-Identifier: Apache-2.0
#include "cmd/pki/pki.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "apiserver/filters/authn/jose/keys.h"
#include "base/file_watch.h"
#include "base/replace_file.h"
#include "net/certificate.h"
#include "net/tls.h"

namespace cox::cmd {
namespace {

namespace fs = std::filesystem;
using net::CertificatePair;
using net::CertificateRequest;

constexpr int kCaDays = 3650;
constexpr int kLeafDays = 365;

struct CaSpec {
  std::string_view file;
  std::string_view common_name;
};
constexpr CaSpec kCas[] = {
    {"ca", "kubernetes"}, {"front-proxy-ca", "front-proxy-ca"}, {"etcd/ca", "etcd-ca"}};

struct LeafSpec {
  std::string_view file;
  std::string_view ca;
  CertificateRequest request;
};

CertificateRequest Client(std::string name) {
  CertificateRequest request;
  request.common_name = std::move(name);
  request.days = kLeafDays;
  request.client_auth = true;
  return request;
}

CertificateRequest Server(std::string name, std::vector<std::string> dns,
                          std::vector<std::string> addresses) {
  CertificateRequest request;
  request.common_name = std::move(name);
  request.dns_names = std::move(dns);
  request.ip_addresses = std::move(addresses);
  request.days = kLeafDays;
  return request;
}

template <class T>
std::vector<T> Joined(std::vector<T> first, const std::vector<T>& second) {
  for (const T& item : second) {
    if (std::find(first.begin(), first.end(), item) == first.end()) first.push_back(item);
  }
  return first;
}

std::vector<LeafSpec> Leaves(const PkiOptions& options) {
  const std::vector<std::string> local = {"127.0.0.1", "::1"};
  std::vector<LeafSpec> leaves = {
      {"apiserver", "ca",
       Server("kube-apiserver",
              Joined({"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                      "kubernetes.default.svc." + options.cluster_domain},
                     options.apiserver_names),
              Joined(local, options.apiserver_addresses))},
      {"apiserver-kubelet-client", "ca", Client("kube-apiserver-kubelet-client")},
      {"front-proxy-client", "front-proxy-ca", Client("front-proxy-client")},
      {"etcd/server", "etcd/ca", Server("etcd-server", {"localhost"}, local)},
      {"etcd/peer", "etcd/ca", Server("etcd-peer", {"localhost"}, local)},
      {"apiserver-etcd-client", "etcd/ca", Client("kube-apiserver-etcd-client")},
  };
  if (!options.node_name.empty()) {
    CertificateRequest kubelet =
        Server("system:node:" + options.node_name, {options.node_name}, options.node_addresses);
    kubelet.organizations = {"system:nodes"};
    leaves.push_back({"kubelet", "ca", std::move(kubelet)});
  }
  return leaves;
}

fs::path CertificateFile(const fs::path& dir, std::string_view name) {
  return dir / (std::string(name) + ".crt");
}
fs::path KeyFile(const fs::path& dir, std::string_view name) {
  return dir / (std::string(name) + ".key");
}

Result<CertificatePair> ReadPair(const fs::path& dir, std::string_view name) {
  CertificatePair pair;
  COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadBoundedFile(CertificateFile(dir, name)));
  COX_ASSIGN_OR_RETURN(pair.key_pem, ReadBoundedFile(KeyFile(dir, name)));
  return pair;
}

Status WritePair(const fs::path& dir, std::string_view name, const CertificatePair& pair) {
  // The key is written first, so that an existing certificate always has a key.
  COX_RETURN_IF_ERROR(ReplaceFile(KeyFile(dir, name), pair.key_pem, /*secret=*/true));
  return ReplaceFile(CertificateFile(dir, name), pair.certificate_pem, /*secret=*/false);
}

bool Covers(const std::vector<std::string>& has, const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::find(has.begin(), has.end(), name) != has.end();
  });
}

// Returns whether key and certificate match: a renewal may have been interrupted between the two
// writes.
bool IsPair(const CertificatePair& pair) {
  const auto free_bio = [](BIO* bio) { BIO_free(bio); };
  const auto free_key = [](EVP_PKEY* key) { EVP_PKEY_free(key); };
  const auto free_certificate = [](X509* certificate) { X509_free(certificate); };
  const auto open = [&](const std::string& pem) {
    return std::unique_ptr<BIO, decltype(free_bio)>(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), free_bio);
  };
  const std::unique_ptr<X509, decltype(free_certificate)> certificate(
      PEM_read_bio_X509(open(pair.certificate_pem).get(), nullptr, nullptr, nullptr),
      free_certificate);
  const std::unique_ptr<EVP_PKEY, decltype(free_key)> key(
      PEM_read_bio_PrivateKey(open(pair.key_pem).get(), nullptr, nullptr, nullptr), free_key);
  return certificate != nullptr && key != nullptr &&
         X509_check_private_key(certificate.get(), key.get()) == 1;
}

// Returns whether the existing certificate can be kept.
bool IsGood(const fs::path& dir, const LeafSpec& leaf, Clock::WallTime until) {
  const Result<CertificatePair> pair = ReadPair(dir, leaf.file);
  if (!pair.ok() || !IsPair(*pair)) return false;
  const auto info = net::ReadCertificate(pair->certificate_pem);
  return info.ok() && info->ValidAt(until) && info->common_name == leaf.request.common_name &&
         Covers(info->dns_names, leaf.request.dns_names) &&
         Covers(info->ip_addresses, leaf.request.ip_addresses);
}

Result<std::string> PublicHalf(const std::string& key_pem) {
  const auto free_bio = [](BIO* bio) { BIO_free(bio); };
  const auto free_key = [](EVP_PKEY* key) { EVP_PKEY_free(key); };
  const std::unique_ptr<BIO, decltype(free_bio)> in(
      BIO_new_mem_buf(key_pem.data(), static_cast<int>(key_pem.size())), free_bio);
  const std::unique_ptr<BIO, decltype(free_bio)> out(BIO_new(BIO_s_mem()), free_bio);
  const std::unique_ptr<EVP_PKEY, decltype(free_key)> key(
      PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), free_key);
  if (key == nullptr || PEM_write_bio_PUBKEY(out.get(), key.get()) != 1) {
    return Status::BadRequest("sa.key holds no private key");
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(out.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

Status EnsureSigningKey(const fs::path& dir, std::vector<std::string>& made) {
  std::error_code error;
  if (!fs::exists(dir / "sa.key", error)) {
    COX_ASSIGN_OR_RETURN(const std::string pem, apiserver::GenerateSigningKeyPem());
    COX_RETURN_IF_ERROR(ReplaceFile(dir / "sa.key", pem, /*secret=*/true));
    fs::remove(dir / "sa.pub", error);
    made.emplace_back("sa.key");
  }
  if (fs::exists(dir / "sa.pub", error)) return {};
  COX_ASSIGN_OR_RETURN(const std::string key, ReadBoundedFile(dir / "sa.key"));
  COX_ASSIGN_OR_RETURN(const std::string pem, PublicHalf(key));
  return ReplaceFile(dir / "sa.pub", pem, /*secret=*/false);
}

}  // namespace

Result<std::vector<std::string>> EnsurePki(const PkiOptions& options, Clock::WallTime now) {
  std::vector<std::string> made;
  std::map<std::string, CertificatePair, std::less<>> cas;
  std::set<std::string_view> new_cas;
  for (const CaSpec& spec : kCas) {
    std::error_code error;
    CertificatePair& ca = cas[std::string(spec.file)];
    if (fs::exists(CertificateFile(options.dir, spec.file), error)) {
      COX_ASSIGN_OR_RETURN(ca, ReadPair(options.dir, spec.file));
      continue;
    }
    CertificateRequest request;
    request.common_name = spec.common_name;
    request.days = kCaDays;
    request.is_ca = true;
    COX_ASSIGN_OR_RETURN(ca, net::MakeCertificateAt(request, nullptr, now));
    COX_RETURN_IF_ERROR(WritePair(options.dir, spec.file, ca));
    new_cas.insert(spec.file);
    made.emplace_back(spec.file);
  }
  for (const LeafSpec& leaf : Leaves(options)) {
    if (!new_cas.contains(leaf.ca) && IsGood(options.dir, leaf, now + options.renew_before)) {
      continue;
    }
    COX_ASSIGN_OR_RETURN(const CertificatePair pair,
                         net::MakeCertificateAt(leaf.request, &cas.find(leaf.ca)->second, now));
    COX_RETURN_IF_ERROR(WritePair(options.dir, leaf.file, pair));
    made.emplace_back(leaf.file);
  }
  COX_RETURN_IF_ERROR(EnsureSigningKey(options.dir, made));
  return made;
}

}  // namespace cox::cmd
