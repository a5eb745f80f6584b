// SPDX-License-Identifier: Apache-2.0
#include "base/file_watch.h"
#include "base/replace_file.h"
#include "base/strings.h"
#include "cmd/pki/pki.h"
#include "coxswain/config.h"
#include "net/certificate.h"
#include "object/codec/json/text.h"
#include "object/codec/yaml/yaml.h"
#include "object/type/value.h"

namespace cox::cmd {
namespace {

// Fields are in kubectl's order. All names are controlled by this program and need no quoting.
std::string Text(const KubeconfigUser& user, const KubeconfigOptions& options,
                 const std::string& ca_pem, const net::CertificatePair& pair) {
  const auto base64 = [](const std::string& pem) {
    std::string out;
    json::WriteBase64(pem, &out);
    return out;
  };
  const std::string& cluster = options.cluster_name;
  const std::string context = user.name + "@" + cluster;
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: " + cluster +
         "\n  cluster:\n    server: " + options.server +
         "\n    certificate-authority-data: " + base64(ca_pem) + "\nusers:\n- name: \"" +
         user.name + "\"\n  user:\n    client-certificate-data: " + base64(pair.certificate_pem) +
         "\n    client-key-data: " + base64(pair.key_pem) + "\ncontexts:\n- name: \"" + context +
         "\"\n  context:\n    cluster: " + cluster + "\n    user: \"" + user.name +
         "\"\ncurrent-context: \"" + context + "\"\n";
}

bool IsGood(const std::filesystem::path& path, const KubeconfigUser& user,
            const KubeconfigOptions& options, const std::string& ca_pem, Clock::WallTime until) {
  const Result<std::string> text = ReadBoundedFile(path);
  if (!text.ok()) return false;
  const Result<Config> config = ParseKubeconfig(*text, path.parent_path());
  if (!config.ok() || config->server != options.server || config->ca_pem != ca_pem) return false;
  const auto info = net::ReadCertificate(config->certificate_pem);
  return info.ok() && info->common_name == user.name && info->ValidAt(until);
}

// Returns whether the file contains no other clusters.
bool IsOurs(const std::string& text, const std::string& cluster) {
  if (TrimSpace(text).empty()) return true;
  const Result<Value> file = yaml::Parse(text);
  if (!file.ok() || !file->is_object()) return false;
  const Value* clusters = file->Find("clusters");
  if (clusters == nullptr || !clusters->is_array()) return true;
  for (const Value& each : clusters->as_array()) {
    const Value* name = each.Find("name");
    if (name == nullptr || !name->is_string() || name->as_string() != cluster) return false;
  }
  return true;
}

}  // namespace

Result<bool> EnsureKubeconfig(const std::filesystem::path& path, const KubeconfigUser& user,
                              const KubeconfigOptions& options, Clock::WallTime now) {
  net::CertificatePair ca;
  COX_ASSIGN_OR_RETURN(ca.certificate_pem, ReadBoundedFile(options.pki / "ca.crt"));
  if (IsGood(path, user, options, ca.certificate_pem, now + options.renew_before)) return false;
  const Result<std::string> before = ReadBoundedFile(path);
  if (before.ok() && !IsOurs(*before, options.cluster_name)) {
    return Status::Conflict(path.string() +
                            " is the kubeconfig of other clusters: name another file, or move it");
  }
  COX_ASSIGN_OR_RETURN(ca.key_pem, ReadBoundedFile(options.pki / "ca.key"));
  net::CertificateRequest request;
  request.common_name = user.name;
  request.organizations = user.groups;
  request.client_auth = true;
  COX_ASSIGN_OR_RETURN(const net::CertificatePair pair, net::MakeCertificateAt(request, &ca, now));
  COX_RETURN_IF_ERROR(
      ReplaceFile(path, Text(user, options, ca.certificate_pem, pair), /*secret=*/true));
  return true;
}

}  // namespace cox::cmd
