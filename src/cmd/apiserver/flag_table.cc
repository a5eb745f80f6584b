// SPDX-License-Identifier: Apache-2.0
#include "cmd/apiserver/flag_table.h"

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
    {"Admission", "enable-admission-plugins", "strings", "", "plugins to add"},
    {"Admission", "disable-admission-plugins", "strings", "", "plugins to leave out"},
    {"Admission", "admission-control-config-file", "string", "", "configuration of plugins"},
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

}  // namespace

std::string_view ApiServerIntro() { return kIntro; }

std::span<const FlagInfo> ApiServerFlags() { return kFlags; }

}  // namespace cox::cmd
