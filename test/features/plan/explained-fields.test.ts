import {Chalk} from 'chalk';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {explainedYaml, messageLines} from '../../../src/features/plan/explained-fields.js';
import {explainConfig, leavesOf} from '../../../src/kubelet/index.js';
import type {Json} from '../../../src/format/json.js';
import {toComparableConfig} from '../../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {generatePodSandboxConfig} from '../../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {LINEAR_GROWTH, measureTimeGrowth} from '../../base/time-growth.js';
import {containerConfig, staticPod} from '../../golden/build-configs.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';

const chalk = new Chalk({level: 0});
const SOURCES = [{kind: 'manifest', name: 'metadata.name'}] as const;

describe('messageLines', () => {
  test('control characters in values and explanations are escaped', () => {
    const fields = [{path: ['a'], value: 'x', text: 'name \u001b[2J', sources: SOURCES}];

    expect(messageLines({a: 'one\n\u001b]0;title\u0007\u009b1m', b: ['\u202e']}, fields, chalk)).toEqual([
      String.raw`a: one\n\x1b]0;title\x07\x9b1m  # name \x1b[2J`,
      String.raw`b: ["\u202e"]`,
    ]);
  });
});

describe('explainedYaml', () => {
  test('explanations are comments that change no value', async () => {
    const data = [{request: {cpu: '51', list: ['a'], none: {}}}];
    const fields = leavesOf({cpu: '51', list: ['a'], none: {}}).map((leaf) => ({
      ...leaf,
      text: `from ${String(leaf.path[0])}\n- injected: true`,
      sources: SOURCES,
    }));

    const text = await explainedYaml(data, [{at: [0, 'request'], fields}]);

    expect(parse(text)).toEqual(data);
    expect(text).toContain(String.raw`cpu: "51" # from cpu\n- injected: true`);
  });
});

/** Returns a pod with this number of containers. */
function podWith(count: number): Pod {
  const containers = Array.from(
    {length: count},
    (_, index) => `  - {name: c${index}, image: "busybox:1", resources: {requests: {cpu: ${index + 1}m}}}`,
  );
  return staticPod(
    `apiVersion: v1\nkind: Pod\nmetadata: {name: many}\nspec:\n  containers:\n${containers.join('\n')}\n`,
  );
}

test('the totals of 1,000 containers have short explanations', () => {
  const pod = podWith(1000);
  const facts = {pod, node: GOLDEN_NODE};
  const sandbox: Json = toComparableConfig('PodSandboxConfig', generatePodSandboxConfig(pod, GOLDEN_NODE, 0));
  expect(explainConfig(sandbox, facts).every(({text}) => text.length < 2000)).toBe(true);
});

test('explanations of containers take linear time', () => {
  const growth = measureTimeGrowth(800, (count) => {
    const pod = podWith(count);
    for (const container of pod.spec.containers) {
      const {name, image} = container;
      const recorded = {config: {metadata: {name}, image: {image}}};
      const config = toComparableConfig('ContainerConfig', containerConfig(pod, recorded));
      messageLines(config, explainConfig(config, {pod, node: GOLDEN_NODE}, container), chalk);
    }
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});
