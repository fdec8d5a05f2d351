import {quantityValue} from '../../../api/quantity.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {NO_FILES, sumFileUsage, type FileUsage} from '../../../base/fs/file-usage.js';
import type {PodUid} from '../../../cri/index.js';
import type {EvictionSignal} from '../../contract/resources/eviction-settings.js';
import type {FilesystemLayout, MeasuredPod} from '../../contract/resources/node-signals.js';
import {podRef} from '../../contract/pod-ref.js';
import {podRequests} from '../../resources/resource-amounts.js';
import {starvedResource} from './pressure-state.js';

/** A pod to rank; its usage is undefined if it could not be measured. */
interface Candidate {
  readonly pod: Pod;
  readonly usage: MeasuredPod | undefined;
  /** Amount of the starved resource that the pod uses above the request; negative below it. */
  readonly excess: bigint;
  /** True if the pod uses more than it requests. */
  readonly exceeds: boolean;
}

/**
 * Returns the pods in the order in which they are evicted for a signal: pods without measured usage, pods that use more
 * than they request, low priority, and high usage above the request (rankMemoryPressure, rankDiskPressureFunc,
 * rankPIDPressure, in which requests do not count).
 */
export function rankForEviction(
  signal: EvictionSignal,
  pods: readonly Pod[],
  usages: ReadonlyMap<PodUid, MeasuredPod>,
  layout: FilesystemLayout,
): readonly Pod[] {
  const candidates = pods.map((pod) => toCandidate(signal, pod, usages.get(podRef(pod).uid), layout));
  const byUsage = starvedResource(signal) === 'pids' ? [byPriority, byMissing, byExcess] : BY_REQUEST;
  return candidates.toSorted((one, other) => compare(one, other, byUsage)).map(({pod}) => pod);
}

type Comparison = (one: Candidate, other: Candidate) => number;

const firstIf = (one: boolean, other: boolean): number => Number(other) - Number(one);
const byMissing: Comparison = (one, other) => firstIf(one.usage === undefined, other.usage === undefined);
const byExceeding: Comparison = (one, other) => firstIf(one.exceeds, other.exceeds);
const byPriority: Comparison = (one, other) => (one.pod.spec.priority ?? 0) - (other.pod.spec.priority ?? 0);
const byExcess: Comparison = (one, other) =>
  one.excess === other.excess ? 0 : one.excess > other.excess ? -1 : 1;
const BY_REQUEST = [byMissing, byExceeding, byPriority, byExcess];

function compare(one: Candidate, other: Candidate, comparisons: readonly Comparison[]): number {
  for (const comparison of comparisons) {
    const result = comparison(one, other);
    if (result !== 0) return result;
  }
  return 0;
}

/** For inodes, a kubelet subtracts the request of ephemeral storage, although any inode exceeds the request. */
function toCandidate(
  signal: EvictionSignal,
  pod: Pod,
  usage: MeasuredPod | undefined,
  layout: FilesystemLayout,
): Candidate {
  const resource = starvedResource(signal);
  const requests = podRequests(pod);
  const request = (name: 'memory' | 'ephemeral-storage'): bigint => quantityValue(requests[name] ?? '0');
  const disk = usage === undefined ? NO_FILES : diskUsageOf(usage, signal, layout);
  const candidate = (used: bigint, requested: bigint, compared = requested): Candidate => ({
    ...{pod, usage},
    exceeds: used > compared,
    excess: used - requested,
  });
  switch (resource) {
    case 'memory':
      return candidate(usage?.memoryBytes ?? 0n, request('memory'));
    case 'pids':
      return candidate(usage?.processes ?? 0n, 0n);
    case 'inodes':
      return candidate(disk.inodesUsed, request('ephemeral-storage'), 0n);
    case 'ephemeral-storage':
      return candidate(disk.usedBytes, request('ephemeral-storage'));
  }
}

/** Sums what a pod has on the filesystem of a signal (buildSignalToRankFunc). */
function diskUsageOf(
  {containers, volumes}: MeasuredPod,
  signal: EvictionSignal,
  {dedicatedImageFs, splitContainerFs}: FilesystemLayout,
): FileUsage {
  const layers = containers.map(({layer = NO_FILES}) => layer);
  const files = [...containers.map(({logs}) => logs), volumes];
  if (!dedicatedImageFs) return sumFileUsage([...layers, ...files]);
  const isImageFs = signal.startsWith('imagefs.');
  const isContainerFs = signal.startsWith('containerfs.');
  if (splitContainerFs) return isImageFs ? NO_FILES : sumFileUsage([...layers, ...files]);
  return sumFileUsage(isImageFs || isContainerFs ? layers : files);
}
