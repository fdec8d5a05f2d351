import {describe, expect, test} from 'vitest';
import {describeFieldError} from '../../../../src/api/field-error.js';
import {pod as podSchema} from '../../../../src/api/types/v1-pod.js';
import type {AnySchema, FieldType} from '../../../../src/api/schema/object-schema.js';
import type {Container, Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {ObjectMeta} from '../../../../src/api/types/v1-meta.js';
import type {VolumeProjection} from '../../../../src/api/types/v1-volumes.js';
import {FIELD_RULES} from '../../../../src/kubelet/pods/field-support/field-rules.js';
import {
  findUnsupportedFeature,
  unsupportedFields,
} from '../../../../src/kubelet/pods/field-support/unsupported-fields.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

function problems(pod: Pod): readonly string[] {
  return unsupportedFields(pod).map(describeFieldError);
}

function objectOf(type: FieldType): AnySchema | undefined {
  if (type.kind === 'list') return objectOf(type.item);
  return type.kind === 'object' ? type.schema : undefined;
}

/** Returns every API object reachable through honored fields, with the first path that leads to it. */
function reachable(): ReadonlyMap<string, {readonly schema: AnySchema; readonly path: string}> {
  const found = new Map<string, {schema: AnySchema; path: string}>();
  const visit = (schema: AnySchema, path: string): void => {
    if (found.has(schema.name)) return;
    found.set(schema.name, {schema, path});
    for (const [name, {type}] of Object.entries(schema.fields)) {
      const inner = objectOf(type);
      const rule = FIELD_RULES[schema.name]?.[name];
      if (inner !== undefined && (rule === undefined || rule.kind === 'honored'))
        visit(inner, `${path}.${name}`);
    }
  };
  visit(podSchema, 'pod');
  return found;
}

describe('the field support matrix', () => {
  const objects = reachable();

  test.each(Object.keys(FIELD_RULES))('lists exactly the fields of %s', (name) => {
    const {schema} = objects.get(name) ?? {};

    expect(Object.keys(FIELD_RULES[name] ?? {}).sort()).toEqual(Object.keys(schema?.fields ?? {}).sort());
  });

  test('lists every object except those that are honored as a whole', () => {
    const whole = [...objects.keys()].filter((name) => FIELD_RULES[name] === undefined);

    const expected = [
      'AppArmorProfile',
      'Capabilities',
      'ConfigMapEnvSource',
      'ConfigMapKeySelector',
      'ConfigMapProjection',
      'ConfigMapVolumeSource',
      'ContainerPort',
      'ContainerResizePolicy',
      'ContainerRestartRule',
      'ContainerRestartRuleOnExitCodes',
      'DownwardAPIProjection',
      'DownwardAPIVolumeFile',
      'DownwardAPIVolumeSource',
      'EnvFromSource',
      'EmptyDirVolumeSource',
      'EnvVar',
      'ExecAction',
      'FCVolumeSource',
      'FlexVolumeSource',
      'GCEPersistentDiskVolumeSource',
      'FileKeySelector',
      'GRPCAction',
      'HTTPGetAction',
      'HTTPHeader',
      'HostAlias',
      'HostPathVolumeSource',
      'ISCSIVolumeSource',
      'ImageVolumeSource',
      'KeyToPath',
      'LifecycleHandler',
      'LocalObjectReference',
      'NFSVolumeSource',
      'NodeSelector',
      'NodeSelectorRequirement',
      'NodeSelectorTerm',
      'ObjectFieldSelector',
      'PodDNSConfig',
      'PodDNSConfigOption',
      'PodReadinessGate',
      'PodResourceClaim',
      'PortworxVolumeSource',
      'ResourceClaim',
      'PersistentVolumeClaimVolumeSource',
      'Probe',
      'ProjectedVolumeSource',
      'ResourceFieldSelector',
      'SELinuxOptions',
      'SeccompProfile',
      'SecretEnvSource',
      'SecretKeySelector',
      'SecretProjection',
      'SecretVolumeSource',
      'SleepAction',
      'Sysctl',
      'TCPSocketAction',
      'VolumeDevice',
      'CSIVolumeSource',
      'EphemeralVolumeSource',
      'PersistentVolumeClaimTemplate',
      'VolumeResourceRequirements',
    ];
    expect(whole.sort()).toEqual(expected.sort());
  });

  test('gives a reason for each field that is ignored or rejected', () => {
    const reasons = Object.values(FIELD_RULES)
      .flatMap((rules) => Object.values(rules))
      .flatMap((rule) => (rule.kind === 'honored' ? [] : [rule.reason]));

    expect(reasons.length).toBeGreaterThan(50);
    expect(reasons.filter((reason) => !/^[a-zA-Z].{10,}[^.]$/.test(reason))).toEqual([]);
  });
});

describe('a field that kcri does not support is rejected:', () => {
  const container = (fields: Partial<Container>): Partial<PodSpec> => ({containers: [aContainer(fields)]});
  const projected = (source: VolumeProjection): Partial<PodSpec> => ({
    volumes: [{name: 'v', projected: {sources: [source]}}],
  });

  // Proves: PodSpec.os, Volume.projected
  test.each<[string, Partial<PodSpec>]>([
    ['spec.ephemeralContainers', {ephemeralContainers: [aContainer({name: 'e'})]}],
    ['spec.os.name', {os: {name: 'windows'}}],
    ['spec.schedulingGates', {schedulingGates: [{name: 'g'}]}],
    ['spec.securityContext.windowsOptions', {securityContext: {windowsOptions: {}}}],
    ['spec.containers[0].securityContext.windowsOptions', container({securityContext: {windowsOptions: {}}})],
    [
      'spec.volumes[0].projected.sources[0].serviceAccountToken',
      projected({serviceAccountToken: {path: 't'}}),
    ],
    ['spec.volumes[0].projected.sources[0].clusterTrustBundle', projected({clusterTrustBundle: {path: 'b'}})],
    ['spec.volumes[0].projected.sources[0].podCertificate', projected({podCertificate: {keyPath: 'k'}})],
  ])('%s', (path, spec) => {
    expect(problems(aPod(spec))).toEqual([
      expect.stringMatching(
        new RegExp(`^${path.replace(/[.[\]]/g, '\\$&')}: Forbidden: not supported by kcri: .{10,}`),
      ),
    ]);
  });

  test.each<[string, ObjectMeta]>([
    ['metadata.deletionTimestamp', {deletionTimestamp: '2026-05-01T12:00:00Z'}],
  ])('%s', (path, metadata) => {
    expect(problems(aPod({}, metadata))).toEqual([expect.stringContaining(`${path}: Forbidden: `)]);
  });

  test('but those of other operating systems are left to the admission in a pod of an API server', () => {
    const securityContext = {windowsOptions: {}};
    const pod = aPod({os: {name: 'windows'}, securityContext, containers: [aContainer({securityContext})]});
    expect(findUnsupportedFeature(pod)).toBeUndefined();
  });

  test('all unsupported fields of a pod are reported together, in their order', () => {
    const pod = aPod({
      schedulingGates: [{name: 'g'}],
      volumes: [{name: 'v', flocker: {datasetName: 'd'}}],
    });

    expect(unsupportedFields(pod).map(({path}) => path.toString())).toEqual([
      'spec.schedulingGates',
      'spec.volumes[0].flocker',
    ]);
  });
});

describe('no field is rejected in', () => {
  test.each<[string, Partial<PodSpec>]>([
    ['a plain pod', {}],
    [
      'a pod with fields set to values without effect',
      {hostUsers: true, nodeSelector: {}, imagePullSecrets: [], resources: {}, os: {name: 'linux'}},
    ],
    [
      'a pod with fields that only schedulers read',
      {affinity: {podAntiAffinity: {}}, schedulerName: 's', tolerations: [{key: 'a'}], priority: 5},
    ],
    [
      'a pod with probes and an active deadline',
      {
        activeDeadlineSeconds: 5,
        containers: [
          aContainer({
            livenessProbe: {exec: {command: ['true']}},
            readinessProbe: {httpGet: {port: 80}},
            startupProbe: {grpc: {port: 80}},
          }),
        ],
      },
    ],
    [
      'a pod with fields that admission plugins set',
      {serviceAccountName: 'robot', automountServiceAccountToken: false},
    ],
    [
      'a pod with resources, volumes and security settings',
      {
        securityContext: {
          runAsUser: 1,
          fsGroup: 2000,
          fsGroupChangePolicy: 'OnRootMismatch',
          sysctls: [{name: 'a', value: 'b'}],
          seccompProfile: {type: 'RuntimeDefault'},
        },
        containers: [
          aContainer({
            resources: {
              limits: {cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Mi'},
            },
            volumeMounts: [
              {name: 'm', mountPath: '/m', readOnly: true, recursiveReadOnly: 'Enabled'},
              {name: 'm', mountPath: '/a', subPath: 'a'},
              {name: 'm', mountPath: '/b', subPathExpr: '$(A)'},
            ],
            securityContext: {privileged: true},
          }),
        ],
        volumes: [
          {name: 'm', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
          {name: 'h', hostPath: {path: '/h'}},
          {name: 'c', configMap: {name: 'c'}},
          {name: 's', secret: {secretName: 's'}},
          {name: 'd', downwardAPI: {items: [{path: 'p', fieldRef: {fieldPath: 'metadata.name'}}]}},
          {name: 'p', projected: {sources: [{secret: {name: 's'}}, {configMap: {name: 'c'}}]}},
        ],
      },
    ],
  ])('%s', (_title, spec) => {
    expect(problems(aPod(spec))).toEqual([]);
  });
});
