import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {applyPodDefaults, defaultPullPolicy} from '../../../src/api/defaults/pod-defaults.js';
import {decodeManifest} from '../../../src/api/manifest/parse-manifest.js';
import type {Pod, PodSpec} from '../../../src/api/types/v1-pod.js';
import {aRawPod} from '../../fakes/a-pod.js';

/** Manifests, with the spec that kubelet 1.36.2 makes of them, without the fields it adds for static pods. */
const recorded = JSON.parse(
  readFileSync(new URL('kubelet-defaults.json', import.meta.url), 'utf8'),
) as Record<string, {manifest: string; spec: unknown}>;

test.each(Object.entries(recorded))("%s: defaults equal the kubelet's", (name, {manifest, spec}) => {
  const [document] = decodeManifest(manifest, {file: name});
  expect(document && applyPodDefaults(document.pod).spec).toEqual(spec);
});

test.each(Object.entries(recorded))('%s: applying defaults twice has no effect', (name, {manifest}) => {
  const [document] = decodeManifest(manifest, {file: name});
  const defaulted = document && applyPodDefaults(document.pod);
  expect(defaulted && applyPodDefaults(defaulted)).toEqual(defaulted);
});

test.each([
  ['busybox', 'Always'],
  ['busybox:latest', 'Always'],
  ['busybox:1', 'IfNotPresent'],
  ['registry.test:5000/a/b', 'Always'],
  ['registry.test:5000/a/b:2', 'IfNotPresent'],
  ['[::1]:5000/a', 'Always'],
  [`busybox@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  [`busybox:latest@sha256:${'0'.repeat(64)}`, 'Always'],
  ['localhost:5000/UPPER', 'IfNotPresent'],
  ['', 'IfNotPresent'],
])('the pull policy of image %j is %s', (image, policy) => {
  expect(defaultPullPolicy(image)).toBe(policy);
});

describe('applyPodDefaults', () => {
  // As in /pods of the kubelet 1.36.2; the annotation of the runtime has the same number.
  test.each([
    [-5, 1],
    [0, 0],
    [undefined, 30],
  ])('a grace period of %j seconds is %i', (written, expected) => {
    const spec = written === undefined ? {} : {terminationGracePeriodSeconds: written};
    expect(applyPodDefaults(aRawPod(spec)).spec.terminationGracePeriodSeconds).toBe(expected);
  });

  test('does not modify its argument', () => {
    const pod = aRawPod({volumes: [{name: 'v'}]});
    const before = structuredClone(pod);
    applyPodDefaults(pod);
    expect(pod).toEqual(before);
  });

  test('sets the namespace "default" if there is none', () => {
    expect(applyPodDefaults(aRawPod()).metadata.namespace).toBe('default');
    const other: Pod = {...aRawPod(), metadata: {name: 'a', namespace: 'other'}};
    expect(applyPodDefaults(other).metadata.namespace).toBe('other');
  });

  test('accepts the deprecated serviceAccount field', () => {
    expect(applyPodDefaults(aRawPod({serviceAccount: 'robot'})).spec.serviceAccountName).toBe('robot');
    expect(applyPodDefaults(aRawPod()).spec).not.toHaveProperty('serviceAccountName');
  });

  test.each<[string, PodSpec['volumes'], unknown]>([
    ['no source', [{name: 'v'}], [{name: 'v', emptyDir: {}}]],
    ['a hostPath', [{name: 'v', hostPath: {path: '/x'}}], [{hostPath: {path: '/x', type: ''}}]],
    ['a secret', [{name: 'v', secret: {secretName: 's'}}], [{secret: {defaultMode: 420}}]],
    [
      'a configMap',
      [{name: 'v', configMap: {name: 'm', defaultMode: 256}}],
      [{configMap: {defaultMode: 256}}],
    ],
    [
      'projected sources',
      [
        {
          name: 'v',
          projected: {
            sources: [
              {serviceAccountToken: {path: 'token'}},
              {downwardAPI: {items: [{path: 'n', fieldRef: {fieldPath: 'metadata.name'}}]}},
            ],
          },
        },
      ],
      [
        {
          projected: {
            defaultMode: 420,
            sources: [
              {serviceAccountToken: {path: 'token', expirationSeconds: 3600}},
              {downwardAPI: {items: [{path: 'n', fieldRef: {apiVersion: 'v1', fieldPath: 'metadata.name'}}]}},
            ],
          },
        },
      ],
    ],
    ['an image', [{name: 'v', image: {reference: 'data'}}], [{image: {pullPolicy: 'Always'}}]],
    [
      'a claim',
      [{name: 'v', ephemeral: {volumeClaimTemplate: {spec: {}}}}],
      [{ephemeral: {volumeClaimTemplate: {spec: {volumeMode: 'Filesystem'}}}}],
    ],
  ])('sets defaults of a volume with %s', (_what, volumes = [], expected) => {
    expect(applyPodDefaults(aRawPod({volumes})).spec.volumes).toMatchObject(expected as object[]);
  });

  test('rounds resources up to milli-units', () => {
    const container = {name: 'c', image: 'i:1', resources: {requests: {cpu: '1100u'}}};
    const {spec} = applyPodDefaults(aRawPod({containers: [container]}));
    expect(spec.containers[0]?.resources).toEqual({requests: {cpu: '2m'}});
  });

  test("defaults a pod's requests to its containers' and then to its limits, and huge pages to limits", () => {
    const {spec} = applyPodDefaults(
      aRawPod({
        resources: {limits: {cpu: '2', memory: '1Gi'}},
        initContainers: [
          {name: 's', image: 'i:1', restartPolicy: 'Always', resources: {requests: {cpu: '100m'}}},
          {name: 'i', image: 'i:1', resources: {requests: {cpu: '900m'}}},
        ],
        containers: [
          {name: 'a', image: 'i:1', resources: {requests: {cpu: '300m'}}},
          {name: 'b', image: 'i:1', resources: {limits: {'hugepages-2Mi': '4Mi'}, requests: {cpu: '400m'}}},
        ],
      }),
    );
    expect(spec.resources).toEqual({
      limits: {cpu: '2', memory: '1Gi', 'hugepages-2Mi': '4Mi'},
      requests: {cpu: '1', memory: '1Gi', 'hugepages-2Mi': '4Mi'},
    });
  });

  test('converts sysctl names to the form with dots', () => {
    const sysctls = ['net/ipv4/ip_local_port_range', 'net.ipv4.tcp_syncookies'].map((name) => ({
      name,
      value: '1',
    }));
    const {spec} = applyPodDefaults(aRawPod({securityContext: {sysctls}}));
    expect(spec.securityContext?.sysctls?.map(({name}) => name)).toEqual([
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
    ]);
  });

  test("does not change an ephemeral container's requests", () => {
    const container = {name: 'e', image: 'i:1', resources: {limits: {cpu: '1'}}};
    const {spec} = applyPodDefaults(aRawPod({ephemeralContainers: [container]}));
    expect(spec.ephemeralContainers?.[0]?.resources).toEqual({limits: {cpu: '1'}});
  });
});
