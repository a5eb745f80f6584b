// SPDX-License-Identifier: Apache-2.0
#include "apiserver/server.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "apiserver/authn/service_account/keys.h"
#include "base/log.h"
#include "base/process_metrics.h"
#include "cmd/commands.h"
#include "cmd/flags.h"
#include "object/scalar/time.h"
#include "storage/etcd/compactor.h"
#include "storage/etcd/etcd_store.h"
#include "storage/etcd/override.h"
#include "storage/memory/memory_store.h"

namespace cox::cmd {
namespace {

constexpr std::string_view kIntro =
    R"(The API server: validates and stores the objects of the cluster and serves them to everybody.

Usage:
  coxswain apiserver [flags]
)";

constexpr FlagInfo kFlags[] = {
    {"Etcd", "etcd-servers", "strings", "",
     "etcd servers to connect with (scheme://ip:port), comma separated"},
    {"Etcd", "etcd-cafile", "string", "", "CA file for etcd"},
    {"Etcd", "etcd-certfile", "string", "", "client certificate file for etcd"},
    {"Etcd", "etcd-keyfile", "string", "", "client key file for etcd"},
    {"Etcd", "etcd-prefix", "string", "/registry", "what all keys in etcd begin with"},
    {"Etcd", "etcd-servers-overrides", "strings", "",
     "etcd of single resources: group/resource#servers, servers separated by ;"},
    {"Etcd", "etcd-compaction-interval", "duration", "5m0s",
     "how often old revisions are forgotten; 0 for never"},
    {"Etcd", "storage-backend", "string", "etcd3",
     "etcd3, or memory: everything is forgotten when the server stops"},
    {"Etcd", "watch-cache", "", "true", "serve reads and watches from memory", true},

    {"Secure serving", "bind-address", "ip", "0.0.0.0", "address to listen on"},
    {"Secure serving", "secure-port", "int", "6443", "port to listen on; 0 for any"},
    {"Secure serving", "cert-dir", "string", "/var/run/kubernetes",
     "where apiserver.crt and apiserver.key are; made if they are not"},
    {"Secure serving", "tls-cert-file", "string", "", "certificate file for HTTPS"},
    {"Secure serving", "tls-private-key-file", "string", "", "key file for --tls-cert-file"},
    {"Secure serving", "tls-min-version", "string", "VersionTLS12", "VersionTLS12 or VersionTLS13"},
    {"Secure serving", "tls-cipher-suites", "strings", "", "cipher suites for TLS 1.2", true},
    {"Generic", "advertise-address", "ip", "", "address that is told to members of the cluster"},
    {"Generic", "external-hostname", "string", "", "host name in generated URLs", true},
    {"Generic", "request-timeout", "duration", "1m0s", "limit of a request"},
    {"Generic", "min-request-timeout", "int", "1800", "least seconds a watch lasts"},
    {"Generic", "max-requests-inflight", "int", "400", "reads at once", true},
    {"Generic", "max-mutating-requests-inflight", "int", "200", "writes at once", true},
    {"Generic", "feature-gates", "mapStringBool", "", "features to switch", true},
    {"Generic", "runtime-config", "mapStringString", "", "API versions to switch", true},
    {"Generic", "shutdown-delay-duration", "duration", "0s",
     "time between failing readyz and stopping"},
    {"Generic", "profiling", "", "true", "profiles at /debug/pprof", true},
    {"Logs", "v", "int", "0", "number for the log level verbosity"},
    {"Logs", "logging-format", "string", "text", "text or json"},

    {"Authentication", "anonymous-auth", "", "true",
     "requests without a credential are system:anonymous"},
    {"Authentication", "client-ca-file", "string", "",
     "CAs whose client certificates are accepted"},
    {"Authentication", "token-auth-file", "string", "",
     "file of bearer tokens: token,user,uid,\"group,group\" per line"},
    {"Authentication", "service-account-issuer", "strings", "https://kubernetes.default.svc",
     "issuers of service account tokens that are accepted; the first is written into new ones"},
    {"Authentication", "service-account-key-file", "strings", "",
     "keys to verify service account tokens with (PEM), besides the signing key"},
    {"Authentication", "service-account-signing-key-file", "string", "",
     "key to sign service account tokens with (PEM, RSA or EC). Without one the server uses "
     "service-account.key in --cert-dir, and makes it (EC) if there is none: servers of one "
     "cluster must be given the same key"},
    {"Authentication", "service-account-max-token-expiration", "duration", "0s",
     "longest life of a service account token; 0 for no limit"},
    {"Authentication", "service-account-extend-token-expiration", "", "true",
     "tokens of pods live a year where programs may not know that they expire"},
    {"Authentication", "service-account-jwks-uri", "string", "",
     "where others find the public keys; by default this server's /openid/v1/jwks"},
    {"Authentication", "api-audiences", "strings", "",
     "audiences of the API, for tokens; by default the service account issuers"},
    {"Authentication", "requestheader-client-ca-file", "string", "", "CA of front proxies", true},
    {"Authentication", "requestheader-allowed-names", "strings", "", "names of front proxies",
     true},
    {"Authentication", "requestheader-username-headers", "strings", "", "headers for user names",
     true},
    {"Authentication", "requestheader-group-headers", "strings", "", "headers for groups", true},
    {"Authentication", "requestheader-extra-headers-prefix", "strings", "",
     "prefixes of headers for extra", true},
    {"Authentication", "enable-bootstrap-token-auth", "", "false", "accept bootstrap tokens", true},
    {"Authorization", "authorization-mode", "strings", "Node,RBAC",
     "AlwaysAllow, AlwaysDeny, RBAC, Node; asked in order. Node is accepted and allows nothing "
     "yet: nodes have what roles give them"},
    {"Admission", "enable-admission-plugins", "strings", "", "plugins to add", true},
    {"Admission", "disable-admission-plugins", "strings", "", "plugins to leave out"},
    {"Admission", "admission-control-config-file", "string", "", "configuration of plugins", true},
    {"Misc", "allow-privileged", "", "false", "privileged containers may be asked for", true},
    {"Misc", "service-cluster-ip-range", "string", "10.0.0.0/24", "addresses of services"},
    {"Misc", "service-node-port-range", "portRange", "30000-32767", "ports of services on nodes"},
    {"Misc", "event-ttl", "duration", "1h0m0s", "how long events are kept"},
    {"Misc", "endpoint-reconciler-type", "string", "lease", "how the endpoints of the API are kept",
     true},
    {"Misc", "kubelet-client-certificate", "string", "", "client certificate for kubelets", true},
    {"Misc", "kubelet-client-key", "string", "", "client key for kubelets", true},
    {"Misc", "kubelet-certificate-authority", "string", "", "CA of kubelets", true},
    {"Misc", "kubelet-preferred-address-types", "strings", "", "addresses of nodes to use", true},
    {"Misc", "proxy-client-cert-file", "string", "", "client certificate for aggregated servers",
     true},
    {"Misc", "proxy-client-key-file", "string", "", "client key for aggregated servers", true},
    {"Misc", "audit-log-path", "string", "", "file for audit events", true},
    {"Misc", "audit-policy-file", "string", "", "what is audited", true},
    {"Misc", "encryption-provider-config", "string", "", "encryption at rest", true},
};

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::NotFound("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Status WriteFile(const std::filesystem::path& path, const std::string& text, bool secret) {
  const Status failed = Status::Internal("cannot write " + path.string());
  // A secret is nobody else's from its first byte on.
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0644);
  if (fd < 0) return failed;
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = write(fd, text.data() + written, text.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) break;
    written += static_cast<size_t>(some);
  }
  const bool closed = close(fd) == 0;
  return closed && written == text.size() ? Status() : failed;
}

// The serving certificate: named by flags, else found in --cert-dir, else made and left there.
Result<net::CertificatePair> ServingCertificate(const Flags& flags) {
  net::CertificatePair pair;
  if (flags.Has("tls-cert-file")) {
    COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadFile(flags.Get("tls-cert-file")));
    COX_ASSIGN_OR_RETURN(pair.key_pem, ReadFile(flags.Get("tls-private-key-file")));
    return pair;
  }
  const std::filesystem::path dir = flags.Get("cert-dir");
  const std::filesystem::path certificate = dir / "apiserver.crt", key = dir / "apiserver.key";
  std::error_code error;
  if (std::filesystem::exists(certificate, error) && std::filesystem::exists(key, error)) {
    COX_ASSIGN_OR_RETURN(pair.certificate_pem, ReadFile(certificate));
    COX_ASSIGN_OR_RETURN(pair.key_pem, ReadFile(key));
    return pair;
  }
  std::vector<std::string> addresses = {"127.0.0.1"};
  const std::string bind = flags.Get("bind-address");
  if (bind != "0.0.0.0" && bind != "::" && bind != "127.0.0.1") addresses.push_back(bind);
  if (flags.Has("advertise-address")) addresses.push_back(flags.Get("advertise-address"));
  COX_ASSIGN_OR_RETURN(
      pair, net::MakeCertificate(
                {.common_name = "kube-apiserver",
                 .organizations = {},
                 .dns_names = {"localhost", "kubernetes", "kubernetes.default",
                               "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"},
                 .ip_addresses = std::move(addresses)},
                nullptr));
  std::filesystem::create_directories(dir, error);
  COX_RETURN_IF_ERROR(WriteFile(certificate, pair.certificate_pem, /*secret=*/false));
  COX_RETURN_IF_ERROR(WriteFile(key, pair.key_pem, /*secret=*/true));
  return pair;
}

// The key for service account tokens: named by a flag, else found in --cert-dir, else made and left
// there.
Result<std::string> SigningKey(const Flags& flags) {
  if (flags.Has("service-account-signing-key-file")) {
    return ReadFile(flags.Get("service-account-signing-key-file"));
  }
  const std::filesystem::path dir = flags.Get("cert-dir");
  const std::filesystem::path path = dir / "service-account.key";
  std::error_code error;
  if (std::filesystem::exists(path, error)) return ReadFile(path);
  COX_ASSIGN_OR_RETURN(std::string pem, apiserver::GenerateSigningKeyPem());
  std::filesystem::create_directories(dir, error);
  COX_RETURN_IF_ERROR(WriteFile(path, pem, /*secret=*/true));
  return pem;
}

Result<apiserver::ServiceAccountTokenOptions> ServiceAccountsFrom(const Flags& flags) {
  apiserver::ServiceAccountTokenOptions options;
  options.issuers = flags.GetList("service-account-issuer");
  COX_ASSIGN_OR_RETURN(options.signing_key_pem, SigningKey(flags));
  for (const std::string& path : flags.GetList("service-account-key-file")) {
    COX_ASSIGN_OR_RETURN(std::string pem, ReadFile(path));
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

// A flag that is a duration, "1h30m", in whole seconds.
Result<std::chrono::seconds> Seconds(const Flags& flags, std::string_view name) {
  Result<Duration> duration = Duration::Parse(flags.Get(name));
  if (!duration.ok() || duration->nanos < 0) {
    return Status::BadRequest("--" + std::string(name) +
                              " must be a duration such as 30s or 1h, not " + flags.Get(name));
  }
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::nanoseconds(duration->nanos));
}

Result<int> MinTlsVersion(const Flags& flags) {
  const std::string version = flags.Get("tls-min-version");
  if (version == "VersionTLS12") return 0x0303;
  if (version == "VersionTLS13") return 0x0304;
  return Status::BadRequest("--tls-min-version must be VersionTLS12 or VersionTLS13, not " +
                            version);
}

Result<apiserver::ServerOptions> ServerOptionsFrom(const Flags& flags) {
  apiserver::ServerOptions options;
  COX_ASSIGN_OR_RETURN(const int64_t port, flags.GetInt("secure-port", 0, 65535));
  options.listen.port = static_cast<uint16_t>(port);
  options.listen.bind_address = flags.Get("bind-address");
  const std::string host = flags.Has("advertise-address") ? flags.Get("advertise-address")
                           : options.listen.bind_address == "0.0.0.0" ? "127.0.0.1"
                                                                      : options.listen.bind_address;
  options.advertise_address = host + ":" + std::to_string(port);
  options.anonymous_auth = flags.GetBool("anonymous-auth");
  if (flags.Has("token-auth-file")) {
    COX_ASSIGN_OR_RETURN(options.token_csv, ReadFile(flags.Get("token-auth-file")));
  }
  if (flags.Has("client-ca-file")) {
    COX_ASSIGN_OR_RETURN(options.client_ca_pem, ReadFile(flags.Get("client-ca-file")));
  }
  options.authorization_modes = flags.GetList("authorization-mode");
  COX_ASSIGN_OR_RETURN(options.service_accounts, ServiceAccountsFrom(flags));
  options.etcd_prefix = flags.Get("etcd-prefix");
  if (!options.etcd_prefix.starts_with('/')) options.etcd_prefix.insert(0, "/");
  options.service_cluster_ip_ranges = flags.GetList("service-cluster-ip-range");
  if (options.service_cluster_ip_ranges.empty()) {
    return Status::BadRequest("--service-cluster-ip-range must be a CIDR such as 10.0.0.0/16");
  }
  options.service_node_port_range = flags.Get("service-node-port-range");
  options.disabled_admission_plugins = flags.GetList("disable-admission-plugins");
  COX_ASSIGN_OR_RETURN(options.event_ttl, Seconds(flags, "event-ttl"));
  COX_ASSIGN_OR_RETURN(options.request_timeout, Seconds(flags, "request-timeout"));
  COX_ASSIGN_OR_RETURN(const int64_t watch, flags.GetInt("min-request-timeout", 1, 1 << 30));
  options.min_request_timeout = std::chrono::seconds(watch);
  COX_ASSIGN_OR_RETURN(options.shutdown_delay, Seconds(flags, "shutdown-delay-duration"));
  options.flags.assign(flags.given().begin(), flags.given().end());
  COX_ASSIGN_OR_RETURN(net::CertificatePair certificate, ServingCertificate(flags));
  COX_ASSIGN_OR_RETURN(const int min_version, MinTlsVersion(flags));
  COX_ASSIGN_OR_RETURN(options.listen.tls,
                       net::ServerTls::Create({.certificate = std::move(certificate),
                                               .by_name = {},
                                               .client_ca_pem = options.client_ca_pem,
                                               .min_version = min_version}));
  return options;
}

// Where objects are kept, and what keeps it from growing for ever.
struct OpenedStores {
  std::unique_ptr<storage::Store> memory;        // or
  std::unique_ptr<storage::StoreRouter> routed;  // over etcd
  std::vector<std::unique_ptr<storage::Compactor>> compactors;

  storage::Store& For(std::string_view group, std::string_view resource) const {
    return memory != nullptr ? *memory : routed->For(group, resource);
  }
};

Result<OpenedStores> OpenStores(const Context& ctx, const Flags& flags) {
  OpenedStores opened;
  if (flags.Get("storage-backend") == "memory") {
    opened.memory = storage::NewMemoryStore(ctx.clock());
    return opened;
  }
  if (!flags.Has("etcd-servers")) {
    return Status::BadRequest("--etcd-servers must be specified (or --storage-backend=memory)");
  }
  COX_ASSIGN_OR_RETURN(const std::chrono::seconds compaction,
                       Seconds(flags, "etcd-compaction-interval"));
  std::vector<storage::EtcdOverride> overrides;
  for (const std::string& text : flags.GetList("etcd-servers-overrides")) {
    COX_ASSIGN_OR_RETURN(storage::EtcdOverride override, storage::ParseEtcdOverride(text));
    overrides.push_back(std::move(override));
  }
  COX_ASSIGN_OR_RETURN(opened.routed, storage::StoreRouter::Create(
                                          {.servers = flags.GetList("etcd-servers"),
                                           .tls = {},
                                           .ca_file = flags.Get("etcd-cafile"),
                                           .certificate_file = flags.Get("etcd-certfile"),
                                           .key_file = flags.Get("etcd-keyfile")},
                                          overrides, [&ctx](storage::EtcdOptions options) {
                                            return storage::ConnectEtcd(ctx, std::move(options));
                                          }));
  for (const auto& store : opened.routed->stores()) {
    opened.compactors.push_back(storage::StartCompactor(ctx, *store, compaction));
  }
  return opened;
}

Status Run(const Flags& flags, const sigset_t& signals) {
  RealClock clock;
  FdLogSink sink(STDERR_FILENO);
  Logging logging(
      clock, flags.Get("logging-format") == "json" ? LogFormat::kJson : LogFormat::kText, sink);
  COX_ASSIGN_OR_RETURN(const int64_t level, flags.GetInt("v", 0, 10));
  logging.SetDefaultLevel(static_cast<int>(level));
  Context ctx(clock, logging.For("apiserver"));
  MetricsRegistry metrics;
  const std::vector<MetricHandle> process_metrics = AddProcessMetrics(metrics);
  COX_ASSIGN_OR_RETURN(const OpenedStores stores, OpenStores(ctx, flags));
  COX_ASSIGN_OR_RETURN(apiserver::ServerOptions options, ServerOptionsFrom(flags));
  const std::chrono::seconds shutdown_delay = options.shutdown_delay;
  {
    COX_ASSIGN_OR_RETURN(
        std::unique_ptr<apiserver::ApiServer> server,
        apiserver::ApiServer::Start(
            ctx, std::move(options),
            [&stores](std::string_view group, std::string_view resource) -> storage::Store& {
              return stores.For(group, resource);
            },
            metrics));
    COX_INFO(ctx.log(), "Serving securely", {"port", server->port()});
    int signal = 0;
    sigwait(&signals, &signal);
    COX_INFO(ctx.log(), "Stopping", {"signal", signal});
    Context limit = ctx.WithTimeout(shutdown_delay + std::chrono::seconds(10));
    Status drained = server->Drain(limit);
    if (!drained.ok()) COX_V(ctx.log(), 2, "Requests were cut off");
  }
  ctx.Stop();
  return {};
}

}  // namespace

int RunApiServer(std::span<char* const> arguments) {
  Result<Flags> flags = Flags::Parse(kFlags, arguments);
  if (!flags.ok()) {
    std::fprintf(stderr, "Error: %s\n", flags.status().message().c_str());
    return 1;
  }
  if (flags->help()) {
    std::fputs(FlagsHelp(kIntro, kFlags).c_str(), stdout);
    return 0;
  }
  // A worker's arena each would cost megabytes; two share well on few cores.
  mallopt(M_ARENA_MAX, 2);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  Status status = Run(*flags, signals);
  if (!status.ok()) {
    std::fprintf(stderr, "Error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace cox::cmd
