import {describe, expect, test} from 'vitest';
import {
  NOT_A_LABEL,
  NOT_A_SUBDOMAIN,
  NOT_A_QUALIFIED_NAME,
  NOT_AN_IP,
  issueMessages,
  specIssues,
  metadataIssues,
  testValidation,
} from '../validation-cases.js';

describe('metadata', () => {
  testValidation(metadataIssues, [
    ['labels: {}', 'metadata.name: Required value: name or generateName is required'],
    ['name: Bad_Name', `metadata.name: Invalid value: "Bad_Name": ${NOT_A_SUBDOMAIN}`],
    [
      `name: ${'a'.repeat(254)}`,
      `metadata.name: Invalid value: "${'a'.repeat(254)}": must be no more than 253 characters`,
    ],
    ['name: p, namespace: a.b', 'metadata.namespace: Invalid value: "a.b": must not contain dots'],
    ['name: p, generateName: p-'],
    [
      'generateName: _',
      'metadata.name: Required value: name or generateName is required',
      `metadata.generateName: Invalid value: "_": ${NOT_A_SUBDOMAIN}`,
    ],
    ['name: p, labels: {a: b, x.y/z: "1", e: ""}'],
    [
      'name: p, labels: {-a: b}',
      `metadata.labels[-a]: Invalid value: "-a": name part ${NOT_A_QUALIFIED_NAME}`,
    ],
    ['name: p, labels: {"/a": b}', 'metadata.labels[/a]: Invalid value: "/a": prefix part must be non-empty'],
    [
      'name: p, labels: {a: "b c"}',
      `metadata.labels[a]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
    ['name: p, annotations: {UPPER/key: " any value "}'],
    [
      'name: p, annotations: {a/b/c: x}',
      `metadata.annotations[a/b/c]: Invalid value: "a/b/c": a qualified name ${NOT_A_QUALIFIED_NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
    [
      `name: p, annotations: {a: ${'x'.repeat(256 * 1024)}}`,
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ],
    [
      'name: p, annotations: {kubernetes.io/config.mirror: x}',
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ],
    [
      'name: p, annotations: {controller.kubernetes.io/pod-deletion-cost: much}',
      'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "much": must be a 32bit integer',
    ],
    [
      'name: p, annotations: {seccomp.security.alpha.kubernetes.io/pod: odd}',
      'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: Invalid value: "odd": must be a valid seccomp profile',
    ],
    [
      'name: p, annotations: {container.apparmor.security.beta.kubernetes.io/x: odd}',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "x": container not found',
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/x]: Invalid value: "odd": invalid AppArmor profile name: "odd"',
    ],
    [
      'name: p, ownerReferences: [{apiVersion: v1, kind: Node, name: "", uid: u}]',
      'metadata.ownerReferences[0].name: Invalid value: "": must not be empty',
    ],
    [
      'name: p, finalizers: ["a b"]',
      `metadata.finalizers[0]: Invalid value: "a b": name part ${NOT_A_QUALIFIED_NAME}`,
    ],
    ['name: p, generation: -1', 'metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
  ]);
});

describe('spec', () => {
  testValidation(specIssues, [
    [
      'restartPolicy: Sometimes',
      'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
    ],
    [
      'dnsPolicy: X',
      'spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
    ['dnsPolicy: None', 'spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    [
      'dnsPolicy: None, dnsConfig: {searches: [a]}',
      'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    ],
    [
      'dnsConfig: {searches: [., a.b., _x.y], options: [{name: ndots, value: "2"}], nameservers: [10.0.0.1, "fd00::1"]}',
    ],
    [
      'dnsConfig: {nameservers: [a, 1.2.3], options: [{value: "1"}]}',
      `spec.dnsConfig.nameservers[0]: Invalid value: "a": ${NOT_AN_IP}`,
      `spec.dnsConfig.nameservers[1]: Invalid value: "1.2.3": ${NOT_AN_IP}`,
      'spec.dnsConfig.options[0]: Required value: must not be empty',
    ],
    [
      'dnsConfig: {nameservers: [1.1.1.1, 1.1.1.2, 1.1.1.3, 1.1.1.4]}',
      'spec.dnsConfig.nameservers: Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
    ],
    ['hostname: a.b', 'spec.hostname: Invalid value: "a.b": must not contain dots'],
    ['subdomain: A', `spec.subdomain: Invalid value: "A": ${NOT_A_LABEL}`],
    ['nodeName: A', `spec.nodeName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`],
    ['runtimeClassName: ""', `spec.runtimeClassName: Invalid value: "": ${NOT_A_SUBDOMAIN}`],
    ['serviceAccountName: A', `spec.serviceAccountName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`],
    ['terminationGracePeriodSeconds: -1'],
    [
      'activeDeadlineSeconds: 0',
      'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
    ],
    [
      'hostAliases: [{ip: x, hostnames: [A]}]',
      `spec.hostAliases[0].ip: Invalid value: "x": ${NOT_AN_IP}`,
      `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
    ],
    // Inputs and answers of the API server 1.36, in which StrictIPCIDRValidation is enabled.
    [
      'hostAliases: [{ip: 127.0.0.01}, {ip: "::ffff:1.2.3.4"}, {ip: "0:0:0:0:0:FFFF:102:304"}, {ip: "00001::"}]',
      'spec.hostAliases[0].ip: Invalid value: "127.0.0.01": must not have leading 0s',
      'spec.hostAliases[1].ip: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address',
      'spec.hostAliases[2].ip: Invalid value: "0:0:0:0:0:FFFF:102:304": must not be an IPv4-mapped IPv6 address',
      'spec.hostAliases[3].ip: Invalid value: "00001::": must not have leading 0s',
    ],
    [
      'dnsConfig: {nameservers: ["::ffff:01.2.3.4", 010.0.0.1, "0001::0"]}',
      'spec.dnsConfig.nameservers[0]: Invalid value: "::ffff:01.2.3.4": must not have leading 0s',
      'spec.dnsConfig.nameservers[1]: Invalid value: "010.0.0.1": must not have leading 0s',
    ],
    [
      'hostnameOverride: h, setHostnameAsFQDN: true, hostNetwork: true',
      'spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true',
      'spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true',
    ],
    [
      'hostPID: true, shareProcessNamespace: true',
      'spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
    ],
    [
      'hostUsers: false, hostNetwork: true, hostIPC: true',
      'spec.hostNetwork: Forbidden: when `hostUsers` is false',
      'spec.hostIPC: Forbidden: when `hostUsers` is false',
    ],
    [
      'securityContext: {runAsUser: -1, fsGroup: 4294967296, supplementalGroups: [0, -2], fsGroupChangePolicy: X}',
      'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.fsGroup: Invalid value: 4294967296: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.supplementalGroups[1]: Invalid value: -2: must be between 0 and 2147483647, inclusive',
      'spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"',
    ],
    [
      'securityContext: {seccompProfile: {}}',
      'spec.securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set',
    ],
    [
      'securityContext: {seccompProfile: {type: Localhost}}',
      'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
    ],
    [
      'securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../x}}',
      `spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`,
    ],
    [
      'securityContext: {appArmorProfile: {type: RuntimeDefault, localhostProfile: x}}',
      'spec.securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost',
    ],
    [
      'hostNetwork: true, securityContext: {sysctls: [{name: net.core.somaxconn, value: "1"}, {name: "a b", value: x}, {name: a, value: x}, {name: a, value: z}]}',
      `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
      'spec.securityContext.sysctls[1].name: Invalid value: "a b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      'spec.securityContext.sysctls[3].name: Duplicate value: "a"',
    ],
    [
      'tolerations: [{operator: Equal, key: k, value: v}, {operator: Exists}, {key: k, operator: Exists, value: v}, {value: v}, {key: k, tolerationSeconds: 5}, {key: k, operator: X, effect: Z}]',
      `spec.tolerations[2].operator: Invalid value: "v": value must be empty when \`operator\` is 'Exists'`,
      'spec.tolerations[3].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      `spec.tolerations[4].effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      'spec.tolerations[5].operator: Unsupported value: "X": supported values: "Equal", "Exists"',
      'spec.tolerations[5].effect: Unsupported value: "Z": supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"',
    ],
    [
      'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}, {key: b, operator: Is}, {key: c, operator: Gt, values: ["1", "2"]}]}]}}}',
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Is": not a valid selector operator',
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
    ],
    [
      'affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, podAffinityTerm: {topologyKey: "", matchLabelKeys: [a]}}]}}',
      'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
      'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Required value: can not be empty',
      'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
    ],
    [
      'topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 1}, {maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway}]',
      'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
      'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, ScheduleAnyway}"',
    ],
    [
      'readinessGates: [{conditionType: "a b"}]',
      `spec.readinessGates[0].conditionType: Invalid value: "a b": name part ${NOT_A_QUALIFIED_NAME}`,
    ],
    [
      'nodeName: node, schedulingGates: [{name: a}, {name: a}]',
      'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
      'spec.schedulingGates[1]: Duplicate value: "a"',
    ],
    [
      'resourceClaims: [{name: a}, {name: a, resourceClaimName: x}]',
      'spec.resourceClaims[0]: Invalid value: {"name":"a"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      'spec.resourceClaims[1].name: Duplicate value: "a"',
    ],
    [
      'overhead: {cpu: -1, x: 1}',
      'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource for containers',
    ],
    ['os: {}', 'spec.os.name: Required value'],
    ['os: {name: plan9}', 'spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"'],
    [
      'preemptionPolicy: X',
      'spec.preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
    ],
    [
      'ephemeralContainers: [{name: e, image: i}]',
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    ],
    ['status: 1', 'unknown field "spec.status"'],
  ]);

  test('must have a container', () => {
    expect(issueMessages('apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n')).toEqual([
      'spec.containers: Required value',
    ]);
  });

  test('is required', () => {
    expect(issueMessages('apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n')).toEqual([
      'spec.containers: Required value',
    ]);
  });
});

describe('annotations and their equivalent fields', () => {
  const withProfile = (annotation: string, profile: string): string[] =>
    issueMessages(
      `apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {container.apparmor.security.beta.kubernetes.io/c: ${annotation}}}\nspec: {containers: [{name: c, image: i, securityContext: {appArmorProfile: ${profile}}}]}\n`,
    );

  test('must agree', () => {
    expect(withProfile('localhost/a', '{type: Localhost, localhostProfile: a}')).toEqual([]);
    expect(withProfile('runtime/default', '{type: RuntimeDefault}')).toEqual([]);
    expect(withProfile('unconfined', '{type: RuntimeDefault}')).toEqual([
      'spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
    ]);
    expect(withProfile('localhost/a', '{type: Localhost, localhostProfile: b}')).toEqual([
      'spec.containers[0].securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match',
    ]);
  });
});
