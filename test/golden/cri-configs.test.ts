import {describe, expect, test} from 'vitest';
import {applyPodDefaults} from '../../src/api/defaults/pod-defaults.js';
import {decodeManifest} from '../../src/api/manifest/parse-manifest.js';
import type {Container, Pod} from '../../src/api/types/v1-pod.js';
import type {Volume} from '../../src/api/types/v1-volumes.js';
import {imageRef, toJson, type ContainerConfig, type Init} from '../../src/cri/index.js';
import type {Json} from '../../src/format/json.js';
import {emptyPodStatus} from '../../src/kubelet/contract/runtime-pod-status.js';
import {diffRunningConfigs} from '../../src/kubelet/managers/kuberuntime/diff-running-configs.js';
import {toComparableConfig} from '../../src/kubelet/managers/kuberuntime/config/sent-config.js';
import {toStaticPod} from '../../src/kubelet/sources/static-pod.js';
import {podDir} from '../../src/kubelet/contract/node-facts.js';
import type {MountedVolume} from '../../src/kubelet/contract/pod-filesystem.js';
import {podRef} from '../../src/kubelet/contract/pod-ref.js';
import {createSwapManager} from '../../src/kubelet/managers/swap/swap-manager.js';
import {generateContainerConfig} from '../../src/kubelet/managers/kuberuntime/config/container-config.js';
import {imageVolumeSpec} from '../../src/kubelet/managers/kuberuntime/actions/pull-image-volumes.js';
import type {ImageVolumes} from '../../src/kubelet/contract/volumes/image-volumes.js';
import {generatePodSandboxConfig} from '../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {computeSubPathMounts} from '../../src/kubelet/managers/kuberuntime/config/sub-path-mounts.js';
import {subPathTargets} from '../../src/kubelet/managers/volumes/bind-sub-paths.js';
import {omitPodField} from '../evidence/omit-field.js';
import {
  canonicalCalls,
  type CanonicalCall,
  type GoldenCall,
  type JsonObject,
} from './canonical/canonical-calls.js';
import {GOLDEN_CASES, GOLDEN_NODE, goldenEnvironment, readGoldenCase} from './golden-cases.js';
import {NO_REFERENCES} from '../kubelet/managers/kuberuntime/config/no-references.js';

const POD_IP = '10.244.0.9';
const SANDBOX_ID = 'a'.repeat(64);

function staticPod(manifest: string, seen = '2026-05-01T12:00:00.5Z'): Pod {
  const [document] = decodeManifest(manifest, {file: 'pod.yaml', lenient: true});
  return toStaticPod(applyPodDefaults(omitPodField(document!.pod)), {
    nodeName: GOLDEN_NODE.nodeName,
    file: '/etc/kubernetes/manifests/pod.yaml',
    seen,
  });
}

function mountedVolume(pod: Pod, {name, hostPath, downwardAPI, image}: Volume): MountedVolume {
  if (image !== undefined) return {hostPath: '', readOnly: true};
  const plugin = downwardAPI === undefined ? 'empty-dir' : 'downward-api';
  const dir = `${podDir(GOLDEN_NODE, podRef(pod).uid)}/volumes/kubernetes.io~${plugin}/${name}`;
  return {hostPath: hostPath?.path ?? dir, readOnly: downwardAPI !== undefined};
}

function imageVolumes(pod: Pod): ImageVolumes {
  return new Map(
    pod.spec.volumes?.flatMap(({name, image: {reference = ''} = {}}) =>
      reference === '' ? [] : [[name, imageVolumeSpec(pod, reference, imageRef(`<IMAGE:${reference}>`))]],
    ),
  );
}

function runPodSandbox(pod: Pod, attempt: number): GoldenCall {
  const config = toJson('PodSandboxConfig', generatePodSandboxConfig(pod, GOLDEN_NODE, attempt), {
    names: 'proto',
  });
  return {
    method: 'RunPodSandbox',
    request: {config},
    response: {pod_sandbox_id: SANDBOX_ID},
    code: 'OK',
    deadlineMs: 240_000,
  };
}

/** Returns kcri's config for a recorded one. */
function containerConfig(pod: Pod, recorded: JsonObject): Init<ContainerConfig> {
  const {metadata, image} = recorded['config'] as unknown as {
    metadata: {name: string; attempt?: number};
    image: {image: string};
  };
  const all: readonly Container[] = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const container = all.find(({name}) => name === metadata.name)!;
  const podUid = podRef(pod).uid;
  const dir = podDir(GOLDEN_NODE, podUid);
  const podIps = pod.spec.hostNetwork === true ? [] : [POD_IP];
  const volumes = new Map(pod.spec.volumes?.map((volume) => [volume.name, mountedVolume(pod, volume)]));
  const known = {...NO_REFERENCES, pod, container, podIps, volumes, node: GOLDEN_NODE};
  const subPaths = computeSubPathMounts(known);
  const granted = {resources: createSwapManager().resources?.({pod, container, node: GOLDEN_NODE}) ?? {}};
  return generateContainerConfig({
    ...known,
    granted,
    restartCount: metadata.attempt ?? 0,
    imageRef: imageRef(image.image),
    imageUser: {uid: 0n},
    imageVolumes: imageVolumes(pod),
    hostsPath: `${dir}/etc-hosts`,
    terminationLogPath: `${dir}/containers/${container.name}/0a1b2c3d`,
    subPathTargets: subPathTargets(GOLDEN_NODE, {podUid, containerName: container.name}, subPaths),
  });
}

function createContainer(pod: Pod, recorded: JsonObject, run: GoldenCall): GoldenCall {
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
