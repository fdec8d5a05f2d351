import {hostname} from 'node:os';
import {counted} from '../../base/counted.js';
import {omit} from '../../base/omit.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {programVersion} from '../../cli/process/program-version.js';
import {humanSize} from '../../format/human-size.js';
import {writeArchive, type NodeArchive} from '../node-archive/archive-file.js';
import {redactSnapshot} from '../node-archive/redact-snapshot.js';
import {collectWhy, type WhySnapshot} from '../why/saved-node.js';
import {answerWhy} from '../why/answer.js';
import type {PodSnapshot} from '../why/snapshot/pod-snapshot.js';
import type {NodeSnapshot} from './node-snapshot.js';

/** Parts of an archive. */
interface NodeParts {
  readonly doctor: NodeSnapshot;
  readonly why: WhySnapshot | {readonly error: string};
}

/** Content of an archive, and what it lacks, in words. */
export interface FittedParts {
  readonly parts: NodeParts;
  readonly leftOut: readonly string[];
}

/**
 * Saves what `doctor` and `why` examine to a file, without secrets, and of at most this size before compression. Says what was
 * saved. Rejects with SystemError, and then leaves nothing behind.
 */
export async function saveNode(
  services: RuntimeContext,
  doctor: NodeSnapshot,
  {path, maxBytes}: {readonly path: string; readonly maxBytes: number},
): Promise<void> {
  const why = await collectWhy(services);
  const {parts, leftOut} = fitParts(redactSnapshot({doctor, why}) as NodeParts, maxBytes);
  const node = 'node' in why ? why.node.name : hostname();
  const archive: NodeArchive = {
    manifest: {kcri: programVersion(), node, takenAt: doctor.takenAt, leftOut},
    parts: {...parts},
  };
  await writeArchive(path, archive);
  const lacks =
    leftOut.length === 0 ? '' : `, without ${leftOut.join(' and ')} (--max-size ${humanSize(maxBytes)})`;
  services.report.info(`saved node ${node} to ${path}${lacks}`);
}

/**
 * Leaves out what is least needed until the parts have at most `maxBytes` bytes as JSON: healthy pods, logs, and then unhealthy
 * pods from the end. What is known of the node remains. Pure.
 */
export function fitParts(parts: NodeParts, maxBytes: number): FittedParts {
  const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const {doctor, why} = parts;
  const available = maxBytes - sizeOf(doctor);
  if ('error' in why || sizeOf(why) <= available) return {parts, leftOut: []};
  const unwell = why.pods.filter((pod) => answerWhy(pod).findings.length > 0);
  const leftOut = [counted(why.pods.length - unwell.length, 'healthy pod')];
  const withPods = (pods: readonly PodSnapshot[]): FittedParts => ({
    parts: {doctor, why: {...why, pods}},
    leftOut,
  });
  if (sizeOf({...why, pods: unwell}) <= available) return withPods(unwell);
  leftOut.push('the logs of containers');
  const kept: PodSnapshot[] = [];
  let size = sizeOf({...why, pods: []});
  for (const pod of unwell.map(withoutLogs)) {
    size += sizeOf(pod) + 1;
    if (size > available) break;
    kept.push(pod);
  }
  if (kept.length < unwell.length) leftOut.push(counted(unwell.length - kept.length, 'unhealthy pod'));
  return withPods(kept);
}

function withoutLogs(pod: PodSnapshot): PodSnapshot {
  const containers = Object.entries(pod.containers).map(([name, facts]) => [name, omit(facts, 'log')]);
  return {...pod, containers: Object.fromEntries(containers) as PodSnapshot['containers']};
}
