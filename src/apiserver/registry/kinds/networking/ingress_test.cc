// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "apiserver/registry/kinds/networking/kinds.h"
#include "apiserver/testing/strategy_harness.h"

namespace cox::apiserver {
namespace {

constexpr std::string_view kBackend = R"("backend":{"service":{"name":"s","port":{"number":80}}})";

// An Ingress with one rule and one path; `path` are the members of the path.
std::string OnePath(std::string_view path) {
  return R"({"metadata":{"name":"a"},"spec":{"rules":[{"http":{"paths":[{)" + std::string(path) +
         "}]}}]}}";
}

TEST(IngressTest, ValidatesPathsByType) {
  struct Case {
    std::string_view path, error;
  };
  const Case cases[] = {
      {R"("path":"/","pathType":"Prefix")", ""},
      {R"("pathType":"ImplementationSpecific")", ""},
      {R"("path":"x","pathType":"ImplementationSpecific")",
       R"(path: Invalid value: "x": must be an absolute path)"},
      {R"("path":"/")", "pathType: Required value: pathType must be specified"},
      {R"("path":"","pathType":"Exact")", R"(path: Invalid value: "": must be an absolute path)"},
      {R"("path":"/a//b","pathType":"Prefix")",
       R"(path: Invalid value: "/a//b": must not contain '//')"},
      {R"("path":"/a%2Fb","pathType":"Prefix")",
       R"(path: Invalid value: "/a%2Fb": must not contain '%2F')"},
      {R"("path":"/a/..","pathType":"Prefix")",
       R"(path: Invalid value: "/a/..": cannot end with '/..')"},
      {R"("path":"/","pathType":"X")",
       R"(pathType: Unsupported value: "X": supported values: "Exact", )"
       R"("ImplementationSpecific", "Prefix")"},
  };
  StrategyHarness ingresses(NewIngressStrategy());
  for (const Case& c : cases) {
    const std::string error =
        ingresses.Create(OnePath(std::string(c.path) + "," + std::string(kBackend))).error;
    EXPECT_EQ(error, c.error.empty() ? "" : "spec.rules[0].http.paths[0]." + std::string(c.error))
        << c.path;
  }
}

TEST(IngressTest, BackendMustBeServiceOrResource) {
  struct Case {
    std::string_view backend, error;
  };
  const Case cases[] = {
      {R"({"resource":{"kind":"K","name":"n"}})", ""},
      {R"({"service":{"name":"1s","port":{"name":"http"}}})", ""},
      {"{}", R"(spec.defaultBackend: Invalid value: "": resource or service backend is required)"},
      {R"({"service":{"name":"s","port":{}}})",
       "spec.defaultBackend: Required value: port name or number is required"},
      {R"({"service":{"name":"s","port":{"number":80,"name":"x"}}})",
       R"(spec.defaultBackend: Invalid value: "": cannot set both port name & port number)"},
      {R"({"service":{"name":"s","port":{"number":80}},"resource":{"kind":"K","name":"n"}})",
       R"(spec.defaultBackend: Invalid value: "": cannot set both resource and service backends)"},
      {R"({"service":{"name":"","port":{"number":70000}}})",
       "[spec.defaultBackend.service.name: Required value, "
       "spec.defaultBackend.service.port.number: Invalid value: 70000: must be between 1 and "
       "65535, inclusive]"},
      {R"({"resource":{"kind":"","name":""}})",
       "[spec.defaultBackend.resource.kind: Required value, spec.defaultBackend.resource.name: "
       "Required value]"},
  };
  StrategyHarness ingresses(NewIngressStrategy());
  for (const Case& c : cases) {
    const std::string text =
        R"({"metadata":{"name":"a"},"spec":{"defaultBackend":)" + std::string(c.backend) + "}}";
    EXPECT_EQ(ingresses.Create(text).error, c.error) << c.backend;
  }
}

TEST(IngressTest, HostsMustBeDnsNamesOrWildcards) {
  StrategyHarness ingresses(NewIngressStrategy());
  auto error = [&](std::string_view host) {
    return ingresses
        .Create(R"({"metadata":{"name":"a"},"spec":{"rules":[{"host":")" + std::string(host) +
                R"("}]}})")
        .error;
  };
  EXPECT_EQ(error("*.example.com"), "");
  EXPECT_EQ(
      error("1.2.3.4"),
      R"(spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address)");
  EXPECT_NE(error("a.*.com").find("a wildcard DNS-1123 subdomain must start with '*.'"),
            std::string::npos);
}

TEST(IngressTest, RequiresRuleOrDefaultBackend) {
  StrategyHarness ingresses(NewIngressStrategy());
  EXPECT_EQ(ingresses.Create(R"({"metadata":{"name":"a"},"spec":{}})").error,
            "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified");
}

TEST(IngressTest, ClassAnnotationWarnsAndMustMatchField) {
  StrategyHarness ingresses(NewIngressStrategy());
  auto with = [&](std::string_view class_name) {
    return ingresses.Create(
        R"({"metadata":{"name":"a","annotations":{"kubernetes.io/ingress.class":"x"}},
            "spec":{"ingressClassName":")" +
        std::string(class_name) +
        R"(","defaultBackend":{"service":{"name":"s","port":{"number":1}}}}})");
  };
  EXPECT_EQ(with("x").error, "");
  EXPECT_EQ(with("x").warnings,
            Warnings{"annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                     "'spec.ingressClassName' instead"});
  EXPECT_EQ(with("y").error,
            R"(annotations.kubernetes.io/ingress.class: Invalid value: "x": must match )"
            "`ingressClassName` when both are specified");
  EXPECT_TRUE(ingresses.Update(with("x").object, "{}").warnings.empty());
}

TEST(IngressTest, GenerationCountsSpecChangesAndStatusUpdateIsSeparate) {
  StrategyHarness ingresses(NewIngressStrategy());
  const Object made =
      ingresses.Create(OnePath(R"("path":"/","pathType":"Prefix",)" + std::string(kBackend)))
          .object;
  EXPECT_EQ(made.object_meta()->generation, 1);
  auto labelled = ingresses.Update(made, R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(labelled.object.object_meta()->generation, 1);
  auto changed = ingresses.Update(made, R"({"spec":{"ingressClassName":"c"},
      "status":{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}})");
  EXPECT_EQ(changed.object.object_meta()->generation, 2);
  EXPECT_EQ(ingresses.Row(changed.object), R"(["a","c","*","","80","60m"])");
  auto status = ingresses.Update(
      made, R"({"status":{"loadBalancer":{"ingress":[{"hostname":"h"},{"ip":"1.2.3.4"}]}}})",
      "status");
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(ingresses.Row(status.object), R"(["a","\u003cnone\u003e","*","1.2.3.4,h","80","60m"])");
  EXPECT_EQ(
      ingresses.Update(made, R"({"status":{"loadBalancer":{"ingress":[{"ip":"x"}]}}})", "status")
          .error,
      R"(status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, )"
      "(e.g. 10.9.8.7 or 2001:db8::ffff)");
}

TEST(IngressTest, UpdateAcceptsInvalidValuesThatAreStored) {
  StrategyHarness ingresses(NewIngressStrategy());
  const Object old =
      ingresses.Decode(R"({"metadata":{"name":"a","uid":"u","resourceVersion":"1"},"spec":{
      "tls":[{"secretName":"UP"}],"defaultBackend":{"service":{"name":"s","port":{"number":1}}}}})");
  EXPECT_EQ(ingresses.Update(old, R"({"metadata":{"labels":{"a":"b"}}})").error, "");
}

TEST(IngressTest, ShortensListOfHosts) {
  StrategyHarness ingresses(NewIngressStrategy());
  auto made = ingresses.Create(R"({"metadata":{"name":"a"},"spec":{"tls":[{}],"rules":[
      {"host":"a.b"},{},{"host":"c.d"},{"host":"e.f"},{"host":"g.h"},{"host":"i.j"}]}})");
  EXPECT_EQ(ingresses.Row(made.object),
            R"(["a","\u003cnone\u003e","a.b,c.d,e.f + 2 more...","","80, 443","60m"])");
}

TEST(IngressClassTest, ControllerIsImmutableAndParametersAreValidated) {
  StrategyHarness classes(NewIngressClassStrategy());
  const CreateCase cases[] = {
      {R"("spec":{"controller":"example.com/c","parameters":{"kind":"K","name":"n"}})", ""},
      {R"("spec":{"controller":""})", "spec.controller: Required value"},
      {R"("spec":{"controller":"nodomain"})",
       R"(spec.controller: Invalid value: "nodomain": must be a domain-prefixed path )"
       R"((such as "acme.io/foo"))"},
      {R"("spec":{"controller":"e.com/c","parameters":{}})",
       "[spec.parameters.kind: Required value, spec.parameters.name: Required value]"},
      {R"("spec":{"controller":"e.com/c","parameters":{"kind":"K","name":"n","scope":"Namespace"}})",
       "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"},
      {R"("spec":{"controller":"e.com/c","parameters":{"kind":"K","name":"n","namespace":"x"}})",
       "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"},
      {R"("spec":{"controller":"e.com/c","parameters":{"kind":"K","name":"n","scope":"X"}})",
       R"(spec.parameters.scope: Unsupported value: "X": supported values: "Cluster", "Namespace")"},
  };
  ExpectCreate(classes, cases);
  auto made = classes.Create(R"({"metadata":{"name":"a"},"spec":{"controller":"e.com/c",
      "parameters":{"apiGroup":"g.io","kind":"K","name":"n"}}})");
  EXPECT_EQ(made.Text(), R"({"spec":{"controller":"e.com/c","parameters":{"apiGroup":"g.io",)"
                         R"("kind":"K","name":"n","scope":"Cluster"}}})");
  EXPECT_EQ(classes.Row(made.object), R"(["a","e.com/c","K.g.io/n","60m"])");
  EXPECT_EQ(classes.Update(made.object, R"({"spec":{"controller":"f.com/c"}})").error,
            R"(spec.controller: Invalid value: "f.com/c": field is immutable)");
}

}  // namespace
}  // namespace cox::apiserver
