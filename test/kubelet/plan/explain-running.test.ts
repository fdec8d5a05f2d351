import {describe, expect, test} from 'vitest';
import type {Json} from '../../../src/format/json.js';
import {emptyPodStatus} from '../../../src/kubelet/contract/runtime-pod-status.js';
import {podRef} from '../../../src/kubelet/contract/pod-ref.js';
import {toComparableConfig} from '../../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {generatePodSandboxConfig} from '../../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {joinPath} from '../../../src/kubelet/managers/kuberuntime/provenance/provenance.js';
import {leavesOf} from '../../../src/kubelet/managers/kuberuntime/provenance/rule-tree.js';
import {explainRunningConfigs, type ExplainedConfig} from '../../../src/kubelet/plan/explain-running.js';
import {containerConfig, staticPod} from '../../golden/build-configs.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

function manifest(cpu: string): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: web, uid: web-uid}
spec:
  containers:
  - name: main
    image: busybox:1
    env: [{name: SECRET, value: "hidden\\u001b[31m"}]
    resources: {requests: {cpu: ${cpu}, memory: 32Mi}}
`;
}

const pod = staticPod(manifest('50m'));
const container = toComparableConfig(
  'ContainerConfig',
  containerConfig(pod, {config: {metadata: {name: 'main'}, image: {image: 'sha256:1'}}}),
);
const running = {
  status: emptyPodStatus(podRef(pod).uid),
  sandbox: toComparableConfig('PodSandboxConfig', generatePodSandboxConfig(pod, GOLDEN_NODE, 0)),
  containers: new Map<string, Json>([['main', container]]),
};

function textOf(configs: readonly ExplainedConfig[], path: string): string | undefined {
  return configs.at(-1)?.fields.find((field) => joinPath(field.path) === path)?.text;
}

describe('explainRunningConfigs', () => {
  test('a value that the manifest gives has the explanation of a plan', () => {
    const configs = explainRunningConfigs(running, {ref: podRef(pod), pod, node: GOLDEN_NODE});

    expect(configs.map(({target}) => target)).toEqual(['sandbox', 'container "main"']);
    expect(textOf(configs, 'linux.resources.cpu_shares')).toBe('resources.requests.cpu 50m');
    expect(textOf(configs, 'linux.resources.oom_score_adj')).toBe(
      'Burstable, memory request 32Mi of 23.5Gi of the node',
    );
    expect(configs.every(({unverified}) => unverified === undefined)).toBe(true);
  });

  test('a value that the manifest would not give now is unknown', () => {
    const changed = staticPod(manifest('100m'));

    const configs = explainRunningConfigs(running, {ref: podRef(pod), pod: changed, node: GOLDEN_NODE});

    expect(textOf(configs, 'linux.resources.cpu_shares')).toBe(
      'unknown: now it would have another value, of resources.requests.cpu 100m',
    );
    expect(textOf(configs, 'linux.resources.cpu_period')).toBe('100 ms, the CFS period of the kubelet');
  });

  test('without a manifest, only what follows from the config itself is known', () => {
    const configs = explainRunningConfigs(running, {ref: podRef(pod), pod: undefined, node: GOLDEN_NODE});

    expect(textOf(configs, 'linux.resources.cpu_shares')).toMatch(/^unknown: /);
    expect(textOf(configs, 'linux.resources.cpu_period')).toBe('100 ms, the CFS period of the kubelet');
    expect(textOf(configs, 'labels[io.kubernetes.pod.name]')).toMatch(/^metadata.name web-goldennode, /);
    expect(textOf(configs, 'image.image')).toMatch(/^unknown: /);
    expect(JSON.stringify(configs)).not.toContain('hidden\\u001b');
    for (const {config, fields} of configs) expect(fields).toHaveLength(leavesOf(config).length);
  });
});
