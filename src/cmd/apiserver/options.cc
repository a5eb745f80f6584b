// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/options.h"

#include <filesystem>

#include "base/file_watch.h"
#include "cmd/apiserver/audit_options.h"
#include "cmd/apiserver/event_loops.h"
#include "cmd/apiserver/keys.h"
#include "cmd/duration_flag.h"
#include "object/scalar/time.h"

namespace cox::cmd {
namespace {

Result<apiserver::ServiceAccountTokenOptions> ServiceAccountsFrom(const Flags& flags) {
  apiserver::ServiceAccountTokenOptions options;
  options.issuers = flags.GetList("service-account-issuer");
  COX_ASSIGN_OR_RETURN(options.signing_key_pem, SigningKey(flags));
  options.signing_key_file = SigningKeyFile(flags);
  options.key_files = flags.GetList("service-account-key-file");
  for (const std::string& path : options.key_files) {
    COX_ASSIGN_OR_RETURN(std::string pem, ReadBoundedFile(path));
    options.key_pems.push_back(std::move(pem));
  }
  options.api_audiences = flags.GetList("api-audiences");
  Result<Duration> limit = Duration::Parse(flags.Get("service-account-max-token-expiration"));
  if (!limit.ok()) {
    return limit.status().WithContext("--service-account-max-token-expiration");
  }
  options.max_expiration = std::chrono::seconds(limit->nanos / 1'000'000'000);
  options.extend_expiration = flags.GetBool("service-account-extend-token-expiration");
  options.jwks_uri = flags.Get("service-account-jwks-uri");
  return options;
}

Result<apiserver::AuthorizationOptions> AuthorizationFrom(const Flags& flags) {
  apiserver::AuthorizationOptions options;
  options.config_file = flags.Get("authorization-config");
  if (!options.config_file.empty()) {
    for (std::string_view other :
         {"authorization-mode", "authorization-webhook-config-file",
          "authorization-webhook-version", "authorization-webhook-cache-authorized-ttl",
          "authorization-webhook-cache-unauthorized-ttl"}) {
      if (!flags.Has(other)) continue;
      return Status::BadRequest("--authorization-config can not be specified when --" +
                                std::string(other) + " is");
    }
    return options;
  }
  options.modes = flags.GetList("authorization-mode");
  options.webhook.kubeconfig = flags.Get("authorization-webhook-config-file");
  options.webhook.version = flags.Get("authorization-webhook-version");
  if (options.webhook.version != "v1" && options.webhook.version != "v1beta1") {
    return Status::BadRequest("--authorization-webhook-version must be v1 or v1beta1");
  }
  COX_ASSIGN_OR_RETURN(options.webhook.authorized_ttl,
                       SecondsOf(flags, "authorization-webhook-cache-authorized-ttl"));
  COX_ASSIGN_OR_RETURN(options.webhook.unauthorized_ttl,
                       SecondsOf(flags, "authorization-webhook-cache-unauthorized-ttl"));
  return options;
}

Result<apiserver::FairnessOptions> FairnessFrom(const Flags& flags) {
  apiserver::FairnessOptions options;
  options.enabled = flags.GetBool("enable-priority-and-fairness");
  COX_ASSIGN_OR_RETURN(const int64_t reads, flags.GetInt("max-requests-inflight", 0, 1 << 20));
  COX_ASSIGN_OR_RETURN(const int64_t writes,
                       flags.GetInt("max-mutating-requests-inflight", 0, 1 << 20));
  options.max_requests_inflight = static_cast<int>(reads);
  options.max_mutating_requests_inflight = static_cast<int>(writes);
  if (options.enabled && reads + writes == 0) {
    return Status::BadRequest(
        "--max-requests-inflight and --max-mutating-requests-inflight must not both be 0 with "
        "--enable-priority-and-fairness");
  }
  return options;
}

// Paths in the configuration are relative to its directory unless they are absolute.
Result<apiserver::PluginConfigs> AdmissionConfigsFrom(const Flags& flags) {
  if (!flags.Has("admission-control-config-file")) return apiserver::PluginConfigs();
  const std::filesystem::path file = flags.Get("admission-control-config-file");
  COX_ASSIGN_OR_RETURN(const std::string text, ReadBoundedFile(file.string()));
  Result<apiserver::PluginConfigs> configs =
      apiserver::ReadAdmissionConfig(text, [&](const std::string& path) {
        return ReadBoundedFile((file.parent_path() / path).string());
      });
  if (!configs.ok()) return configs.status().WithContext("--admission-control-config-file");
  return configs;
}

// Returns nullopt without --oidc-issuer-url.
Result<std::optional<apiserver::JwtIssuerConfig>> OidcFrom(const Flags& flags) {
  if (!flags.Has("oidc-issuer-url")) return std::optional<apiserver::JwtIssuerConfig>();
  apiserver::OidcFlags oidc{.issuer_url = flags.Get("oidc-issuer-url"),
                            .client_id = flags.Get("oidc-client-id"),
                            .ca_pem = {},
                            .username_claim = flags.Get("oidc-username-claim"),
                            .username_prefix = flags.Get("oidc-username-prefix"),
                            .groups_claim = flags.Get("oidc-groups-claim"),
                            .groups_prefix = flags.Get("oidc-groups-prefix"),
                            .signing_algorithms = flags.GetList("oidc-signing-algs"),
                            .required_claims = flags.GetList("oidc-required-claim")};
  if (flags.Has("oidc-ca-file")) {
    COX_ASSIGN_OR_RETURN(oidc.ca_pem, ReadBoundedFile(flags.Get("oidc-ca-file")));
  }
  COX_ASSIGN_OR_RETURN(apiserver::JwtIssuerConfig issuer,
                       apiserver::IssuerOf(oidc, flags.GetList("service-account-issuer")));
  return std::optional(std::move(issuer));
}

Result<apiserver::AuthenticationOptions> AuthenticationFrom(const Flags& flags) {
  apiserver::AuthenticationOptions options;
  if (flags.Has("anonymous-auth")) options.anonymous = flags.GetBool("anonymous-auth");
  options.client_ca_file = flags.Get("client-ca-file");
  options.token_file = flags.Get("token-auth-file");
  options.config_file = flags.Get("authentication-config");
  options.bootstrap_tokens = flags.GetBool("enable-bootstrap-token-auth");
  options.front_proxy = {.client_ca_file = flags.Get("requestheader-client-ca-file"),
                         .allowed_names = flags.GetList("requestheader-allowed-names"),
                         .username_headers = flags.GetList("requestheader-username-headers"),
                         .uid_headers = flags.GetList("requestheader-uid-headers"),
                         .group_headers = flags.GetList("requestheader-group-headers"),
                         .extra_prefixes = flags.GetList("requestheader-extra-headers-prefix")};
  COX_ASSIGN_OR_RETURN(options.oidc, OidcFrom(flags));
  options.webhook.kubeconfig_file = flags.Get("authentication-token-webhook-config-file");
  options.webhook.version = flags.Get("authentication-token-webhook-version");
  if (options.webhook.version != "v1" && options.webhook.version != "v1beta1") {
    return Status::BadRequest("--authentication-token-webhook-version must be v1 or v1beta1");
  }
  COX_ASSIGN_OR_RETURN(options.webhook.cache_ttl,
                       SecondsOf(flags, "authentication-token-webhook-cache-ttl"));
  return options;
}

// The files are read for each connection, so that renewed certificates are used without a restart.
// They are also read once here, so that a server with missing files does not start.
Result<apiserver::KubeletClientOptions> KubeletsFrom(const Flags& flags) {
  apiserver::KubeletClientOptions options;
  options.preferred_address_types = flags.GetList("kubelet-preferred-address-types");
  COX_ASSIGN_OR_RETURN(const int64_t port, flags.GetInt("kubelet-port", 1, 65535));
  options.port = static_cast<uint16_t>(port);
  COX_ASSIGN_OR_RETURN(options.timeout, SecondsOf(flags, "kubelet-timeout"));
  const std::string ca = flags.Get("kubelet-certificate-authority");
  const std::string certificate = flags.Get("kubelet-client-certificate");
  const std::string key = flags.Get("kubelet-client-key");
  if (certificate.empty() != key.empty()) {
    return Status::BadRequest(
        "--kubelet-client-certificate and --kubelet-client-key go together: give both or none");
  }
  options.tls = [ca, certificate, key]() -> Result<net::ClientTls> {
    net::ClientTls tls;
    tls.insecure = ca.empty();
    if (!ca.empty()) {
      COX_ASSIGN_OR_RETURN(tls.ca_pem, ReadBoundedFile(ca));
    }
    if (certificate.empty()) return tls;
    COX_ASSIGN_OR_RETURN(tls.certificate_pem, ReadBoundedFile(certificate));
    COX_ASSIGN_OR_RETURN(tls.key_pem, ReadBoundedFile(key));
    return tls;
  };
  COX_RETURN_IF_ERROR(options.tls().status());
  return options;
}

}  // namespace

Result<apiserver::ServerOptions> ServerOptionsFrom(const Flags& flags) {
  apiserver::ServerOptions options;
  COX_ASSIGN_OR_RETURN(const int64_t port, flags.GetInt("secure-port", 0, 65535));
  options.listen.port = static_cast<uint16_t>(port);
  options.listen.bind_address = flags.Get("bind-address");
  COX_ASSIGN_OR_RETURN(options.listen.loops, EventLoopsFrom(flags));
  const std::string host = flags.Has("advertise-address") ? flags.Get("advertise-address")
                           : options.listen.bind_address == "0.0.0.0" ? "127.0.0.1"
                                                                      : options.listen.bind_address;
  options.advertise_address = host + ":" + std::to_string(port);
  COX_ASSIGN_OR_RETURN(options.authentication, AuthenticationFrom(flags));
  COX_ASSIGN_OR_RETURN(options.authorization, AuthorizationFrom(flags));
  COX_ASSIGN_OR_RETURN(options.service_accounts, ServiceAccountsFrom(flags));
  options.etcd_prefix = flags.Get("etcd-prefix");
  if (!options.etcd_prefix.starts_with('/')) options.etcd_prefix.insert(0, "/");
  options.service_cluster_ip_ranges = flags.GetList("service-cluster-ip-range");
  if (options.service_cluster_ip_ranges.empty()) {
    return Status::BadRequest("--service-cluster-ip-range must be a CIDR such as 10.0.0.0/16");
  }
  options.service_node_port_range = flags.Get("service-node-port-range");
  options.enabled_admission_plugins = flags.GetList("enable-admission-plugins");
  options.disabled_admission_plugins = flags.GetList("disable-admission-plugins");
  COX_ASSIGN_OR_RETURN(options.audit, AuditFrom(flags));
  COX_ASSIGN_OR_RETURN(options.admission_configs, AdmissionConfigsFrom(flags));
  COX_ASSIGN_OR_RETURN(options.event_ttl, SecondsOf(flags, "event-ttl"));
  COX_ASSIGN_OR_RETURN(options.request_timeout, SecondsOf(flags, "request-timeout"));
  COX_ASSIGN_OR_RETURN(const int64_t watch, flags.GetInt("min-request-timeout", 1, 1 << 30));
  options.min_request_timeout = std::chrono::seconds(watch);
  COX_ASSIGN_OR_RETURN(options.shutdown_delay, SecondsOf(flags, "shutdown-delay-duration"));
  COX_ASSIGN_OR_RETURN(options.fairness, FairnessFrom(flags));
  COX_ASSIGN_OR_RETURN(options.kubelets, KubeletsFrom(flags));
  options.flags.assign(flags.given().begin(), flags.given().end());
  COX_ASSIGN_OR_RETURN(net::CertificatePair certificate, ServingCertificate(flags));
  const Result<int> min_version = net::ParseTlsVersion(flags.Get("tls-min-version"));
  if (!min_version.ok()) return min_version.status().WithContext("--tls-min-version");
  const std::vector<std::string> suites = flags.GetList("tls-cipher-suites");
  if (const Status known = net::CheckCipherSuites(suites); !known.ok()) {
    return known.WithContext("--tls-cipher-suites");
  }
  if (!flags.GetBool("allow-privileged")) {
    return Status::BadRequest(
        "--allow-privileged=false is not supported; forbid privileged containers with Pod "
        "Security");
  }
  COX_ASSIGN_OR_RETURN(options.listen.tls,
                       net::ServerTls::Create({.certificate = std::move(certificate),
                                               .by_name = {},
                                               // The names of the CAs are not sent: they are only a
                                               // hint, but some clients treat them as a
                                               // restriction, and the CAs may change.
                                               .client_ca_pem = {},
                                               .min_version = *min_version,
                                               .cipher_suites = suites}));
  return options;
}

}  // namespace cox::cmd
