import {join} from 'node:path';
import {isSystemCallError} from '../../../base/errors.js';
import {writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {stateDirectory} from '../../../base/fs/state-directory.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {isMissing, mapFact, type Fact} from '../fact.js';
import type {DiskSample, NodeSnapshot, RunHistory} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Kind of samples of earlier runs that are kept. */
export interface HistoryKind<T> {
  /** Name of the file in the state directory. */
  readonly file: string;
  /** Number of samples that are kept of each subject. */
  readonly kept: number;
  readonly isSample: (value: unknown) => value is T;
}

/** Durations of calls by RPC, in ms. */
export const LATENCIES: HistoryKind<number> = {
  file: 'doctor-latencies.json',
  kept: 30,
  isSample: (value) => typeof value === 'number',
};

/** Time between two samples of the space of a disk at least, in ms. */
const DISK_PAUSE_MS = 60 * 60 * 1000;
/** Space of disks by path, of the last week. */
export const DISKS: HistoryKind<DiskSample> = {
  file: 'doctor-disks.json',
  kept: 7 * 24 + 1,
  isSample: isDiskSample,
};

function isDiskSample(value: unknown): value is DiskSample {
  if (!isObject(value)) return false;
  const {at, availableBytes} = value;
  return typeof at === 'string' && Number.isFinite(Date.parse(at)) && typeof availableBytes === 'number';
}

/** Reads the samples of earlier runs. They are of this machine, so that those of a remote node are unknown. */
export async function readRunHistory<T>(
  kind: HistoryKind<T>,
  rootDir: string,
  {node, isRemote}: {readonly node: FileReader; readonly isRemote: boolean},
): Promise<Fact<RunHistory<T>>> {
  if (isRemote) return {error: 'no history is kept of remote nodes'};
  const text = await node.text(join(stateDirectory(rootDir), kind.file));
  if (isMissing(text)) return {error: 'no earlier run is recorded', isMissing: true};
  return mapFact(text, (content) => parseRunHistory(kind, content));
}

/** Returns the samples in a file; those of a broken file are empty. Pure. */
export function parseRunHistory<T>({kept, isSample}: HistoryKind<T>, text: string): RunHistory<T> {
  return Object.fromEntries(
    Object.entries(parseJsonObject(text)).map(([subject, list]) => [
      subject,
      (Array.isArray(list) ? list : []).filter(isSample).slice(-kept),
    ]),
  );
}

/** Returns the durations of the calls that were answered, by RPC. Pure. */
export function latencySamples({calls}: NodeSnapshot['runtime']): Readonly<Record<string, number>> {
  return Object.fromEntries(
    calls.filter(({error}) => error === undefined).map(({rpc, ms}) => [rpc, ms] as const),
  );
}

/**
 * Returns the space of the disks of which the last sample is an hour old, by path. One in the future is of another clock. Pure.
 */
export function diskSamples({
  takenAt,
  disks,
  diskHistory,
}: NodeSnapshot): Readonly<Record<string, DiskSample>> {
  const before = 'value' in diskHistory ? diskHistory.value : {};
  return Object.fromEntries(
    disks.flatMap(({path, space}): readonly (readonly [string, DiskSample])[] => {
      const age = Date.parse(takenAt) - Date.parse(before[path]?.at(-1)?.at ?? '');
      if ('error' in space || (age >= 0 && age < DISK_PAUSE_MS)) return [];
      return [[path, {at: takenAt, availableBytes: space.value.availableBytes}]];
    }),
  );
}

/** Adds what a run has measured to the histories. */
export async function recordRun(rootDir: string, snapshot: NodeSnapshot): Promise<void> {
  const {runtime, diskHistory} = snapshot;
  await record(LATENCIES, rootDir, {before: runtime.history, samples: latencySamples(runtime)});
  await record(DISKS, rootDir, {before: diskHistory, samples: diskSamples(snapshot)});
}

/**
 * Adds samples to a history. Nothing is written without a sample, nor into a root directory that kcri has not used, and a history
 * that this user cannot read or write is left as it is.
 */
async function record<T>(
  {file, kept}: HistoryKind<T>,
  rootDir: string,
  {before, samples}: {readonly before: Fact<RunHistory<T>>; readonly samples: Readonly<Record<string, T>>},
): Promise<void> {
  if (Object.keys(samples).length === 0 || ('error' in before && before.isMissing !== true)) return;
  const history = 'value' in before ? before.value : {};
  const added = Object.entries(samples).map(([subject, sample]) => [
    subject,
    [...(history[subject] ?? []), sample].slice(-kept),
  ]);
  const text = `${JSON.stringify({...history, ...Object.fromEntries(added)})}\n`;
  try {
    await writeFileAtomicWithoutSync(join(stateDirectory(rootDir), file), text, 0o600);
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
  }
}
