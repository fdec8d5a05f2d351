import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {applyPodDefaults} from '../../../../../src/api/defaults/pod-defaults.js';
import {encodePodStatus} from '../../../../../src/api/json/encode-pod.js';
import {decodeManifest} from '../../../../../src/api/manifest/parse-manifest.js';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {ContainerState, ContainerStatus, PodStatus} from '../../../../../src/api/types/v1-status.js';
import {containerId, imageRef, type ContainerId} from '../../../../../src/cri/index.js';
import {toStaticPod} from '../../../../../src/kubelet/sources/static-pod.js';
import type {RuntimeContainerStatus} from '../../../../../src/kubelet/contract/runtime-pod-status.js';
import {GOLDEN_CASES, GOLDEN_NODE, readGoldenCase} from '../../../../golden/golden-cases.js';
import {anInstance, aRuntimePod, aSandboxStatus} from '../../../../fakes/a-runtime-pod.js';
import {computeStatus} from './compute-status.js';

const TRACES = join(import.meta.dirname, '../../../../golden/traces');
const POD_IP = '10.88.0.5';

/** Cases whose status needs an enforced deadline, which this test does not set up. */
const NEEDS_DEADLINE: ReadonlySet<string> = new Set(['active-deadline']);
/** Cases without a sandbox: the kubelet had stopped it before the pod failed, or had never created one. */
const WITHOUT_SANDBOX: ReadonlySet<string> = new Set(['sec-userns', 'vol-hostpath-fail', 'vol-projected']);

const CASES = GOLDEN_CASES.filter((name) => !NEEDS_DEADLINE.has(name) && recordedPods(name).length > 0);

interface RecordedPod {
  readonly status: PodStatus;
}

/** Returns the recorded pods; none for a manifest that the kubelet rejected. */
function recordedPods(name: string): readonly RecordedPod[] {
  const text = readFileSync(join(TRACES, name, 'canon.pods.json'), 'utf8');
  const list = JSON.parse(text) as {readonly items: readonly RecordedPod[] | null} | null;
  return list?.items ?? [];
}

function staticPod(name: string): Pod {
  const [document] = decodeManifest(readGoldenCase(name).manifest, {file: 'pod.yaml', lenient: true});
  const source = {nodeName: 'goldennode', seen: '2026-05-01T12:00:00Z', file: '/manifests/pod.yaml'};
  return toStaticPod(applyPodDefaults(document!.pod), source);
}

/**
 * Reconstructs the runtime's instances of a container from its recorded status: only IDs, times and exits.
 */
function instances(status: ContainerStatus): readonly RuntimeContainerStatus[] {
  const {containerID, state = {}, lastState = {}} = status;
  if (containerID === undefined) return [];
  const linux = status.user?.linux;
  const facts = {
    imageName: status.image,
    imageRef: imageRef(status.imageID),
    ...(linux && {
      user: {
        linux: {
          uid: BigInt(linux.uid),
          gid: BigInt(linux.gid),
          supplementalGroups: linux.supplementalGroups!.map(BigInt),
        },
      },
    }),
  };
  const exited = ({terminated}: ContainerState, restartCount: number): readonly RuntimeContainerStatus[] =>
    terminated === undefined
      ? []
      : [
          anInstance(status.name, 'CONTAINER_EXITED', {
            ...facts,
            id: rawId(terminated.containerID!),
            restartCount,
            exitCode: terminated.exitCode,
            reason: terminated.reason!,
            message: terminated.reason === 'StartError' ? terminated.message! : '',
          }),
        ];
  if (state.waiting !== undefined) return exited(lastState, status.restartCount);
  const newest =
    state.running === undefined
      ? exited(state, status.restartCount)
      : [
          anInstance(status.name, 'CONTAINER_RUNNING', {
            ...facts,
            id: rawId(containerID),
            restartCount: status.restartCount,
          }),
        ];
  return [...newest, ...exited(lastState, status.restartCount - 1)];
}

function rawId(id: string): ContainerId {
  return containerId(id.replace('containerd://', ''));
}

/** Returns the failure of the last start of each waiting container. */
function failures(
  statuses: readonly ContainerStatus[],
): ReadonlyMap<string, {reason: string; message: string}> {
  return new Map(
    statuses.flatMap(({name, state}) => {
      const {reason = '', message} = state?.waiting ?? {};
      return message === undefined ? [] : [[name, {reason, message}]];
    }),
  );
}

function terminationMessages(statuses: readonly ContainerStatus[]): ReadonlyMap<ContainerId, string> {
  return new Map(
    statuses.flatMap(({state}) => {
      const {reason, message, containerID} = state?.terminated ?? {};
      return message === undefined || reason === 'StartError' ? [] : [[rawId(containerID!), message]];
    }),
  );
}

/** Encodes a status as /pods shows it, with times and addresses replaced as in the traces. */
function canonical(status: PodStatus): unknown {
  return JSON.parse(
    JSON.stringify(encodePodStatus(status))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<TIME>')
      .replaceAll(POD_IP, '<POD_IP>'),
  ) as unknown;
}

test('there are more than 40 cases', () => {
  expect(CASES.length).toBeGreaterThan(40);
});

test.each(CASES)('the status of %s equals the recorded status', (name) => {
  const recorded = recordedPods(name)[0]!.status;
  const pod = staticPod(name);
  const statuses = [...(recorded.containerStatuses ?? []), ...(recorded.initContainerStatuses ?? [])];
  const ended = recorded.phase === 'Succeeded' || recorded.phase === 'Failed';
  const network = pod.spec.hostNetwork === true ? 'NODE' : 'POD';
  const sandbox = aSandboxStatus({
    state: ended ? 'SANDBOX_NOTREADY' : 'SANDBOX_READY',
    linux: {namespaces: {options: {network, pid: 'CONTAINER', ipc: 'POD', targetId: ''}}},
  });
  const status = computeStatus({
    pod,
    runtime: aRuntimePod(statuses.flatMap(instances), {
      sandboxes: WITHOUT_SANDBOX.has(name) ? [] : [sandbox],
      ips: ended || WITHOUT_SANDBOX.has(name) || network === 'NODE' ? [] : [POD_IP],
    }),
    reasons: failures(statuses),
    terminationMessages: terminationMessages(statuses),
    // The pod had an address before it ended.
    previous: ended ? {phase: 'Running', podIPs: [{ip: POD_IP}]} : undefined,
    node: GOLDEN_NODE,
    now: 1_777_000_000_000,
  });
  expect(canonical(status)).toEqual(recorded);
});
