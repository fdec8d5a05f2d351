import {hostname} from 'node:os';
import {counted} from '../../base/counted.js';
import {KcriError} from '../../base/errors.js';
import {omit} from '../../base/omit.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {Output} from '../../cli/output/output.js';
import {writeChunks} from '../../cli/output/write-chunks.js';
import {programVersion} from '../../cli/process/program-version.js';
import {humanSize} from '../../format/human-size.js';
import {encodeArchive, writeArchive, type NodeArchive} from '../../cli/archive/archive-file.js';
import type {LogsRecording} from '../../cli/archive/recorded-logs.js';
import type {DetailsRecording, RuntimeRecording} from '../../cli/archive/recorded-runtime.js';
import {recordLogs} from '../node-archive/record-logs.js';
import {recordNode} from '../node-archive/record-node.js';
import {recordRuntime, type RuntimeRecord} from '../node-archive/record-runtime.js';
import {redactSnapshot} from '../node-archive/redact-snapshot.js';
import type {NodeFacts} from '../node/node-facts.js';
import {collectWhy, type WhySnapshot} from '../why/saved-node.js';
import {answerWhy} from '../why/answer.js';
import type {PodSnapshot} from '../why/snapshot/pod-snapshot.js';
import type {NodeSnapshot} from './node-snapshot.js';

/** Parts of an archive; those that were left out are absent. */
interface NodeParts {
  readonly doctor: NodeSnapshot;
  readonly why: WhySnapshot | {readonly error: string};
  /** Lists of the runtime, as `ps` and `pods` show them. */
  readonly runtime?: RuntimeRecording | {readonly error: string};
  /** Verbose information of sandboxes, containers, images and the runtime. */
  readonly details?: DetailsRecording;
  readonly logs?: LogsRecording;
  /** The Node object, and the report of the kubelet. */
  readonly node?: NodeFacts | {readonly error: string};
}

/** Parts that can be left out, those that are least needed first, in words. */
const OPTIONAL_PARTS = [
  ['logs', 'the logs of containers'],
  ['details', 'the details of objects and the runtime'],
  ['runtime', 'the lists of the runtime'],
  ['node', 'the Node object'],
] as const;

/** Part of the size that logs, and the verbose information of the runtime, may have. */
const SHARE = 1 / 4;

/** File to save a node to. */
export interface FileToSave {
  readonly path: string;
  /** Largest size of what is saved, in bytes. */
  readonly maxBytes: number;
  /** Standard output, if the path is `-`. */
  readonly stdout?: Output;
}

/** Content of an archive, and what it lacks, in words. */
export interface FittedParts {
  readonly parts: NodeParts;
  readonly leftOut: readonly string[];
}

/**
 * Saves what `doctor` and `why` examine, lists show and containers logged to a file, without secrets, and of at most this size
 * before compression. Says what was saved. Rejects with SystemError, and then leaves nothing behind.
 */
export async function saveNode(
  services: RuntimeContext,
  doctor: NodeSnapshot,
  {path, maxBytes, stdout}: FileToSave,
): Promise<void> {
  const why = await collectWhy(services);
  const {withoutDetails, imagesNotAsked, ...recorded} = await record(services, maxBytes * SHARE);
  const facts = {doctor, why, node: await recordNode(services), ...recorded};
  const {parts, leftOut: partsLeftOut} = fitParts(redactSnapshot(facts) as NodeParts, maxBytes);
  const tooLarge = [...partsLeftOut, ...lacking(parts, withoutDetails, 'object')];
  const tooSlow = lacking(parts, imagesNotAsked, 'image').map((each) => `${each}, which took too long`);
  const leftOut = [...tooLarge, ...tooSlow];
  const name = 'node' in why ? why.node.name : (services.connections.remote?.node.host ?? hostname());
  const archive: NodeArchive = {
    manifest: {kcri: programVersion(), node: name, takenAt: doctor.takenAt, leftOut},
    parts: {...parts},
  };
  if (stdout === undefined) await writeArchive(path, archive);
  else await writeChunks(stdout, encodeArchive(archive), services.signal);
  const limit = tooLarge.length === 0 ? '' : ` (--max-size ${humanSize(maxBytes)})`;
  const lacks = leftOut.length === 0 ? '' : `, without ${leftOut.join(' and ')}${limit}`;
  services.report.info(`saved node ${name} to ${stdout === undefined ? path : 'standard output'}${lacks}`);
}

/** Returns what the details in an archive lack, in words. */
function lacking({details}: NodeParts, count: number, noun: string): readonly string[] {
  return count > 0 && details !== undefined ? [`the details of ${counted(count, noun)}`] : [];
}

/** Reads the answers of the runtime and the logs of its containers, each of at most `maxBytes`, or the error of reading them. */
async function record(
  services: RuntimeContext,
  maxBytes: number,
): Promise<
  Pick<NodeParts, 'runtime' | 'details' | 'logs'> & Pick<RuntimeRecord, 'withoutDetails' | 'imagesNotAsked'>
> {
  try {
    const {recording, containers, ...record} = await recordRuntime(services, maxBytes);
    return {
      ...record,
      runtime: recording,
      logs: await recordLogs(services, containers, maxBytes),
    };
  } catch (error) {
    services.signal.throwIfAborted();
    if (!(error instanceof KcriError)) throw error;
    return {runtime: {error: error.plainMessage}, withoutDetails: 0, imagesNotAsked: 0};
  }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Leaves out what is least needed until the parts have at most `maxBytes` bytes as JSON: logs, details, lists of the runtime,
 * the Node object, healthy pods, last lines of logs, and then unhealthy pods from the end. What the checks read remains. Pure.
 */
export function fitParts(parts: NodeParts, maxBytes: number): FittedParts {
  const leftOut: string[] = [];
  let rest = parts;
  for (const [name, words] of OPTIONAL_PARTS) {
    if (sizeOf(rest) <= maxBytes) return {parts: rest, leftOut};
    if (rest[name] === undefined) continue;
    rest = omit(rest, name);
    leftOut.push(words);
  }
  const {doctor, why} = rest;
  const available = maxBytes - sizeOf(doctor);
  if ('error' in why || sizeOf(why) <= available) return {parts: {doctor, why}, leftOut};
  return fitPods({doctor, why}, leftOut, available);
}

/** Leaves out pods until what is known of them has at most `available` bytes. */
function fitPods(
  {doctor, why}: {readonly doctor: NodeSnapshot; readonly why: WhySnapshot},
  before: readonly string[],
  available: number,
): FittedParts {
  const unwell = why.pods.filter((pod) => answerWhy(pod).findings.length > 0);
  const leftOut = [...before, counted(why.pods.length - unwell.length, 'healthy pod')];
  const withPods = (pods: readonly PodSnapshot[]): FittedParts => ({
    parts: {doctor, why: {...why, pods}},
    leftOut,
  });
  if (sizeOf({...why, pods: unwell}) <= available) return withPods(unwell);
  leftOut.push('the last lines of their logs');
  const kept: PodSnapshot[] = [];
  let size = sizeOf({...why, pods: []});
  for (const pod of unwell.map(withoutLastLines)) {
    size += sizeOf(pod) + 1;
    if (size > available) break;
    kept.push(pod);
  }
  if (kept.length < unwell.length) leftOut.push(counted(unwell.length - kept.length, 'unhealthy pod'));
  return withPods(kept);
}

function withoutLastLines(pod: PodSnapshot): PodSnapshot {
  const containers = Object.entries(pod.containers).map(([name, facts]) => [name, omit(facts, 'log')]);
  return {...pod, containers: Object.fromEntries(containers) as PodSnapshot['containers']};
}
