import {applyPodDefaults} from '../../src/api/defaults/pod-defaults.js';
import {decodeManifest} from '../../src/api/manifest/parse-manifest.js';
import type {Container, Pod} from '../../src/api/types/v1-pod.js';
import type {Volume} from '../../src/api/types/v1-volumes.js';
import {imageRef, toJson, type ContainerConfig, type Init} from '../../src/cri/index.js';
import {podDir, type NodeFacts} from '../../src/kubelet/contract/node-facts.js';
import type {MountedVolume} from '../../src/kubelet/contract/pod-filesystem.js';
import {podRef} from '../../src/kubelet/contract/pod-ref.js';
import type {ImageVolumes} from '../../src/kubelet/contract/volumes/image-volumes.js';
import {imageVolumeSpec} from '../../src/kubelet/managers/kuberuntime/actions/pull-image-volumes.js';
import {generateContainerConfig} from '../../src/kubelet/managers/kuberuntime/config/container-config.js';
import {generatePodSandboxConfig} from '../../src/kubelet/managers/kuberuntime/config/sandbox-config.js';
import {computeSubPathMounts} from '../../src/kubelet/managers/kuberuntime/config/sub-path-mounts.js';
import type {HostDns} from '../../src/kubelet/managers/network/pod-dns.js';
import {createSwapManager} from '../../src/kubelet/managers/swap/swap-manager.js';
import {subPathTargets} from '../../src/kubelet/managers/volumes/bind-sub-paths.js';
import {toStaticPod} from '../../src/kubelet/sources/static-pod.js';
import {omitPodField} from '../evidence/omit-field.js';
import {NO_REFERENCES} from '../kubelet/managers/kuberuntime/config/no-references.js';
import type {ComparableCall, JsonObject} from '../../src/recording/canonical/canonical-calls.js';
import {GOLDEN_NODE} from './golden-cases.js';

/** Node whose facts a test may change. */
type GoldenNode = NodeFacts & HostDns;

export const POD_IP = '10.244.0.9';
export const SANDBOX_ID = 'a'.repeat(64);

/** Returns the Pod of a manifest as the recorded kubelet had it. */
export function staticPod(manifest: string, seen?: string): Pod {
  return staticPods(manifest, seen)[0]!;
}

/** Returns all Pods of a manifest. */
export function staticPods(manifest: string, seen = '2026-05-01T12:00:00.5Z'): readonly Pod[] {
  return decodeManifest(manifest, {file: 'pod.yaml', lenient: true}).map(({pod}) =>
    toStaticPod(applyPodDefaults(omitPodField(pod)), {
      nodeName: GOLDEN_NODE.nodeName,
      file: '/etc/kubernetes/manifests/pod.yaml',
      seen,
    }),
  );
}

function mountedVolume(
  pod: Pod,
  node: GoldenNode,
  {name, hostPath, downwardAPI, image}: Volume,
): MountedVolume {
  if (image !== undefined) return {hostPath: '', readOnly: true};
  const plugin = downwardAPI === undefined ? 'empty-dir' : 'downward-api';
  const dir = `${podDir(node, podRef(pod).uid)}/volumes/kubernetes.io~${plugin}/${name}`;
  return {hostPath: hostPath?.path ?? dir, readOnly: downwardAPI !== undefined};
}

function imageVolumes(pod: Pod): ImageVolumes {
  return new Map(
    pod.spec.volumes?.flatMap(({name, image: {reference = ''} = {}}) =>
      reference === '' ? [] : [[name, imageVolumeSpec(pod, reference, imageRef(`<IMAGE:${reference}>`))]],
    ),
  );
}

/** Returns the call for a sandbox. */
export function runPodSandbox(pod: Pod, attempt: number, node: GoldenNode = GOLDEN_NODE): ComparableCall {
  const config = toJson('PodSandboxConfig', generatePodSandboxConfig(pod, node, attempt), {
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
export function containerConfig(
  pod: Pod,
  recorded: JsonObject,
  node: GoldenNode = GOLDEN_NODE,
): Init<ContainerConfig> {
  const {metadata, image} = recorded['config'] as unknown as {
    metadata: {name: string; attempt?: number};
    image: {image: string};
  };
  const all: readonly Container[] = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const container = all.find(({name}) => name === metadata.name)!;
  const podUid = podRef(pod).uid;
  const dir = podDir(node, podUid);
  const podIps = pod.spec.hostNetwork === true ? [] : [POD_IP];
  const volumes = new Map(pod.spec.volumes?.map((volume) => [volume.name, mountedVolume(pod, node, volume)]));
  const known = {...NO_REFERENCES, pod, container, podIps, volumes, node};
  const subPaths = computeSubPathMounts(known);
  const granted = {resources: createSwapManager().resources?.({pod, container, node}) ?? {}};
  return generateContainerConfig({
    ...known,
    granted,
    restartCount: metadata.attempt ?? 0,
    imageRef: imageRef(image.image),
    imageUser: {uid: 0n},
    imageVolumes: imageVolumes(pod),
    hostsPath: `${dir}/etc-hosts`,
    terminationLogPath: `${dir}/containers/${container.name}/0a1b2c3d`,
    subPathTargets: subPathTargets(node, {podUid, containerName: container.name}, subPaths),
  });
}
