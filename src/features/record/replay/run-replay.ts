import {randomUUID} from 'node:crypto';
import {counted} from '../../../base/counted.js';
import {ConfigError} from '../../../base/errors.js';
import type {CommandServices} from '../../../cli/command/command-services.js';
import {withElapsedTime} from '../../../cli/output/elapsed-time.js';
import type {OutputFormat} from '../../../cli/output/output-format.js';
import type {Connection} from '../../../cri/index.js';
import {readCgroupDriver} from '../../../cri/read-cgroup-driver.js';
import type {JsonObject} from '../../../format/json.js';
import {stringAt} from '../../../base/string-at.js';
import {lostText, readRecording} from '../../../recording/lines/read-recording.js';
import {createComparison} from '../../../recording/replay/compare-answers.js';
import {neededImages} from '../../../recording/replay/needed-images.js';
import {readCalls, type RecordedCall, type RecordedCalls} from '../../../recording/replay/recorded-calls.js';
import {ReplayCgroups} from '../../../recording/replay/replay-cgroups.js';
import {OwnExits} from '../../../recording/replay/own-exits.js';
import {ReplayPaths} from '../../../recording/replay/replay-paths.js';
import {countMasked, replayRequest, type ReplayValues} from '../../../recording/replay/replay-request.js';
import {ValueMap} from '../../../recording/replay/value-map.js';
import {createMessageMask} from '../mask-messages.js';
import {cleanUp, type ReplayRemains} from './clean-up.js';
import {ReplayImages} from './replay-images.js';
import {makeLogDirectories, makeReplayDirectory, makeReplayPaths} from './replay-place.js';
import {printReplay, replayWarnings} from './replay-report.js';
import {Replayer, type ReplayPace} from './replayer.js';

/** Options of `replay`. */
export interface ReplayOptions {
  readonly file: string;
  readonly pace: ReplayPace;
  /** True to leave what the replay has made. */
  readonly keep: boolean;
  readonly form: OutputFormat<'table' | 'json' | 'yaml'>;
}

/** Result of a replay: the recorded answers, other answers, or left out all calls or one that changes something. */
export type ReplayResult = 'same' | 'differs' | 'incomplete';

/**
 * Makes the calls of a recording on the runtime, prints what was answered differently, and removes what it made. Rejects with
 * ConfigError if the file is not a recording, with CriError or SystemError if the calls cannot be made, with the signal's
 * reason after it has cleaned up.
 */
export async function runReplay(services: CommandServices, options: ReplayOptions): Promise<ReplayResult> {
  const recording = await withProgress(
    services,
    `reading "${options.file}"`,
    openRecording(services, options.file),
  );
  const connection = await services.connections.default();
  const {runtimeName, runtimeVersion} = await connection.runtime.version({}, {signal: services.signal});
  const prepared = await prepare(services, connection, recording.calls);
  try {
    const replayer = await replay(services, {connection, recording, prepared, pace: options.pace});
    const skipped = [...recording.skipped, ...replayer.skipped].toSorted((a, b) => a.number - b.number);
    const result = {
      ...recording,
      ...options,
      recording: recording.header,
      runtime: {name: runtimeName, version: runtimeVersion},
      replayed: replayer.replayed,
      differences: replayer.differences,
      skipped,
      maskedValues: recording.calls.reduce((sum, {request}) => sum + countMasked(request), 0),
    };
    await printReplay(services, result, options.form);
    if (replayer.differences.length > 0) return 'differs';
    const isIncomplete = replayer.replayed === 0 || skipped.some(({matters}) => matters);
    return isIncomplete ? 'incomplete' : 'same';
  } finally {
    await finish(services, connection, prepared, options.keep);
  }
}

interface OpenedRecording extends RecordedCalls {
  readonly header: JsonObject;
  readonly damagedLines: number;
}

async function openRecording(
  {report, signal}: Pick<CommandServices, 'report' | 'signal'>,
  path: string,
): Promise<OpenedRecording> {
  let header: JsonObject = {};
  let damagedLines = 0;
  let lostLines = 0;
  const lines = readRecording(path, {
    signal,
    onHeader: (read) => {
      header = read;
    },
    onDamaged: () => {
      damagedLines += 1;
    },
    onLost: (count) => {
      lostLines += count;
    },
  });
  const {calls, skipped} = await readCalls(lines);
  if (lostLines > 0) report.warn(lostText(lostLines, path));
  if (calls.length === 0) {
    for (const warning of replayWarnings({skipped, damagedLines, maskedValues: 0})) report.warn(warning);
    throw new ConfigError(`"${path}" has no calls to replay`, {
      hint: 'record a pod from its creation on, such as "kcri record --file=FILE -- kcri sync pod.yaml"',
    });
  }
  return {calls, skipped, header, damagedLines};
}

/** Values and resources that are prepared before the first call. */
interface Prepared {
  readonly replay: ReplayValues;
  readonly remains: ReplayRemains & {readonly images: ReplayImages};
}

async function prepare(
  {context: {cgroupMount}, signal}: Pick<CommandServices, 'context' | 'signal'>,
  {runtime, images}: Connection,
  calls: readonly RecordedCall[],
): Promise<Prepared> {
  const cgroups = new ReplayCgroups(await readCgroupDriver(runtime, signal), randomUUID().slice(0, 8));
  const before = await ReplayImages.open(images, signal);
  const directory = await makeReplayDirectory();
  const uids = new Map(calls.flatMap(({request}) => uidOf(request)).map((uid) => [uid, randomUUID()]));
  const values = new ValueMap();
  for (const [recorded, actual] of uids) values.set(recorded, actual);
  const replay: ReplayValues = {
    values,
    uids,
    paths: new ReplayPaths(directory),
    cgroupParent: (recorded) => cgroups.parent(recorded),
  };
  const remains = {
    uids: new Set(uids.values()),
    images: before,
    directory,
    cgroupMount,
    cgroups: cgroups.directory,
  };
  return {replay, remains};
}

/** Returns the UID of the pod that a request of RunPodSandbox makes; empty if it has none. */
function uidOf(request: JsonObject): readonly string[] {
  return request['podSandboxId'] === undefined &&
    stringAt(request, 'config', 'metadata', 'name') !== undefined
    ? [stringAt(request, 'config', 'metadata', 'uid') ?? '']
    : [];
}

interface ReplayRun {
  readonly connection: Connection;
  readonly recording: OpenedRecording;
  readonly prepared: Prepared;
  readonly pace: ReplayPace;
}

async function replay(
  services: CommandServices,
  {connection, recording: {calls, header}, prepared: {replay: values, remains}, pace}: ReplayRun,
): Promise<Replayer> {
  const {context, signal} = services;
  for (const {request} of calls) replayRequest(request, values); // names the paths
  await makeReplayPaths(values.paths.all);
  await makeLogDirectories(calls, (recorded) => values.paths.logs(recorded));
  const preparing = remains.images.prepare(neededImages(calls), values.values, signal);
  await withProgress(services, 'preparing images', preparing);
  const mask = createMessageMask({env: header['masksEnv'] === true, keepOutput: true});
  const exits = new OwnExits();
  const replayer = new Replayer({
    connection,
    calls,
    replay: values,
    compare: createComparison(calls, exits),
    exits,
    isOwnImage: (image) => remains.images.isOwn(image),
    mask: (method, response) => mask.message(method, 'server', response),
    pace,
    clock: context.clock,
    signal,
  });
  const activity = (): string => `replaying: ${replayer.ended} of ${counted(calls.length, 'call')}`;
  await withProgress(services, activity, replayer.run());
  return replayer;
}

/** Waits for work, which is shown on a terminal if it takes long. */
async function withProgress<T>(
  {out, context}: Pick<CommandServices, 'out' | 'context'>,
  activity: string | (() => string),
  work: Promise<T>,
): Promise<T> {
  return await withElapsedTime(work, {activity, output: out.stderr, context});
}

async function finish(
  services: Pick<CommandServices, 'report' | 'out' | 'context'>,
  connection: Connection,
  {remains}: Prepared,
  keep: boolean,
): Promise<void> {
  const {report} = services;
  if (keep) {
    report.info(`kcri: kept the pods ${[...remains.uids].join(', ')} and "${remains.directory}"`);
    return;
  }
  const removing = cleanUp(connection, remains);
  for (const failure of await withProgress(services, 'removing the pods of the replay', removing))
    report.warn(`not cleaned up: ${failure}`);
}
