import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/api/types/v1-pod.js';
import {toJson} from '../../src/cri/index.js';
import type {Json} from '../../src/format/json.js';
import {emptyPodStatus} from '../../src/kubelet/contract/runtime-pod-status.js';
import {diffRunningConfigs} from '../../src/kubelet/managers/kuberuntime/diff-running-configs.js';
import {toComparableConfig} from '../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {podRef} from '../../src/kubelet/contract/pod-ref.js';
import {generatePodSandboxConfig} from '../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {
  canonicalCalls,
  type CanonicalCall,
  type ComparableCall,
  type JsonObject,
} from '../../src/recording/canonical/canonical-calls.js';
import {POD_IP, SANDBOX_ID, containerConfig, runPodSandbox, staticPod} from './build-configs.js';
import {GOLDEN_CASES, GOLDEN_NODE, goldenEnvironment, readGoldenCase} from './golden-cases.js';
import {NO_REFERENCES} from '../kubelet/managers/kuberuntime/config/no-references.js';

function createContainer(pod: Pod, recorded: JsonObject, run: ComparableCall): ComparableCall {
  return {
    method: 'CreateContainer',
    request: {
      pod_sandbox_id: SANDBOX_ID,
      config: toJson('ContainerConfig', containerConfig(pod, recorded), {names: 'proto'}),
      sandbox_config: (run.request as JsonObject)['config'],
    },
    response: {container_id: 'c'.repeat(64)},
    code: 'OK',
    deadlineMs: 120_000,
  };
}

/** Returns kcri's configs for the same objects, in the same canonical form. */
function rebuildConfig(manifest: string, recorded: readonly CanonicalCall[]): readonly CanonicalCall[] {
  const pod = staticPod(manifest);
  let run = runPodSandbox(pod, 0);
  return recorded.map(({method, req}) => {
    const metadata = (req['config'] as {metadata: {attempt?: number}}).metadata;
    if (method === 'RunPodSandbox') run = runPodSandbox(pod, metadata.attempt ?? 0);
    // A restarted kubelet reads the manifest for the first time again.
    const sandbox =
      req['sandbox_config'] === '=RunPodSandbox'
        ? run
        : runPodSandbox(staticPod(manifest, '2026-05-01T13:00:00Z'), 0);
    const calls = method === 'RunPodSandbox' ? [run] : [run, createContainer(pod, req, sandbox)];
    return canonicalCalls(calls, goldenEnvironment(GOLDEN_NODE, [POD_IP], new Map())).at(-1)!;
  });
}

/**
 * Cases with mounts that depend on node state, or with a second manifest. test/golden/parity-foreground.test.ts plays
 * them.
 */
const SKIPPED_CASES: ReadonlySet<string> = new Set(['image-volume', 'vol-subpath', 'multi-pod']);

function nameOfConfig(request: JsonObject): string {
  return (request['config'] as unknown as {metadata: {name: string}}).metadata.name;
}

/** Returns the recorded configs of the case's own manifest. A replaced one has a UID with `#`. */
function recordedObjects(name: string): readonly CanonicalCall[] {
  return readGoldenCase(name)
    .lines.filter((line) => 'method' in line)
    .filter(({method}) => method === 'RunPodSandbox' || method === 'CreateContainer')
    .filter(({req}) => !JSON.stringify(req).includes('#2'));
}

/** Returns the differences between the first recorded sandbox and containers and those of the manifest. */
function diffRecorded(manifest: string, recorded: readonly CanonicalCall[]): unknown {
  const pod = staticPod(manifest);
  const containers = recorded
    .filter(({method}) => method === 'CreateContainer')
    .map(({req}): readonly [string, Json] => {
      const config = containerConfig(pod, req);
      return [config.metadata?.name ?? '', toComparableConfig('ContainerConfig', config)];
    });
  const sandbox = toComparableConfig('PodSandboxConfig', generatePodSandboxConfig(pod, GOLDEN_NODE, 0));
  const status = {...emptyPodStatus(podRef(pod).uid), ips: [POD_IP]};
  return diffRunningConfigs(
    staticPod(manifest, '2026-05-01T13:00:00Z'),
    {status, sandbox, containers: new Map(containers)},
    {node: GOLDEN_NODE, objects: NO_REFERENCES.objects},
  );
}

describe('configs of sandboxes and containers equal those of kubelet 1.36.2', () => {
  const cases = GOLDEN_CASES.filter((name) => !SKIPPED_CASES.has(name) && recordedObjects(name).length > 0);

  test.each(cases)('%s', (name) => {
    const recorded = recordedObjects(name);

    const actual = rebuildConfig(readGoldenCase(name).manifest, recorded);

    expect(actual).toEqual(recorded);
  });

  const withAllContainers = cases.filter((name) => {
    const {containers, initContainers = []} = staticPod(readGoldenCase(name).manifest).spec;
    const created = new Set(recordedObjects(name).map(({req}) => nameOfConfig(req)));
    return [...containers, ...initContainers].every((container) => created.has(container.name));
  });

  test.each(withAllContainers)('%s: the manifest is found to be the one that runs', (name) => {
    expect(diffRecorded(readGoldenCase(name).manifest, recordedObjects(name))).toEqual([]);
  });
});
