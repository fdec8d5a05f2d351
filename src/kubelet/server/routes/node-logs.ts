import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:fs';
import {open, realpath} from 'node:fs/promises';
import type {Writable} from 'node:stream';
import {pipeline} from 'node:stream/promises';
import {promisify} from 'node:util';
import {createGzip, constants as zlib} from 'node:zlib';
import {anySignal} from '../../../base/async/any-signal.js';
import {formatAggregate, hasErrno, isSystemCallError, KcriError, messageOf} from '../../../base/errors.js';
import {fdPath} from '../../../base/fs/file-handles.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import {openBeneath} from '../../../base/fs/open-beneath.js';
import type {KubeletRequest, StreamedResponse} from '../kubelet-response.js';
import {hasOptions, journalArguments, type NodeLogQuery} from './node-log-query.js';

/** Time after which a query ends, in ms. */
const TIMEOUT_MS = 30_000;
const MAX_UNITS_BYTES = 16 * 1024 * 1024;

/** Log directory of the node, and the clock for the time limit. */
export interface ServiceLogsOptions {
  readonly systemLogDir: string;
  readonly clock: Clock;
}

/**
 * Returns the logs of services: from the journal, or else from the files of the log directory (journalServer). Failures
 * are lines of the response, as with a kubelet.
 */
export function serviceLogs(
  {systemLogDir: directory, clock}: ServiceLogsOptions,
  query: NodeLogQuery,
  request: KubeletRequest,
): StreamedResponse {
  const isCompressed = request.raw.headers['accept-encoding'] === 'gzip';
  return {
    kind: 'streamed',
    type: 'text/plain;charset=UTF-8',
    ...(isCompressed && {headers: {'content-encoding': 'gzip'}}),
    write: async (response) => {
      using limit = createDeadline(clock, TIMEOUT_MS);
      using either = anySignal(request.signal, limit.signal);
      const {signal} = either;
      if (!isCompressed) {
        await copyLogs(directory, query, response, signal);
        return;
      }
      const gzip = createGzip({level: zlib.Z_BEST_SPEED});
      const sent = pipeline(gzip, response, {end: false});
      await copyLogs(directory, query, gzip, signal);
      gzip.end();
      await sent;
    },
  };
}

/** Copies the logs of each service from the journal or a file (copyForBoot). */
async function copyLogs(
  directory: string,
  {services, options}: NodeLogQuery,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const units = await journalUnits(signal);
  const inJournal = services.filter((service) => units.includes(`${service}.service`));
  const inFiles = services.filter((service) => !inJournal.includes(service));
  if (inJournal.length > 0) await copyJournal(journalArguments(inJournal, options), output, signal);
  if (inFiles.length === 0) return;
  if (hasOptions(options))
    output.write(
      `\noptions present and query resolved to log files for [${inFiles.join(' ')}]\ntry without specifying options\n`,
    );
  else for (const service of inFiles) await copyServiceFile(directory, service, output, signal);
}

/** Returns the names of all units with messages in the journal; empty without a journal (checkForNativeLogger). */
async function journalUnits(signal: AbortSignal): Promise<string> {
  try {
    const options = {signal, maxBuffer: MAX_UNITS_BYTES};
    const {stdout} = await promisify(execFile)('journalctl', ['--field', '_SYSTEMD_UNIT'], options);
    return stdout;
  } catch {
    signal.throwIfAborted();
    return ''; // no journal on this node: the services may log to files
  }
}

/** Copies the output and errors of journalctl(1), whatever its exit code. */
async function copyJournal(args: readonly string[], output: Writable, signal: AbortSignal): Promise<void> {
  try {
    const child = spawn('journalctl', args, {stdio: ['ignore', 'pipe', 'pipe'], signal});
    const closed = once(child, 'close');
    await Promise.all([
      closed,
      pipeline(child.stdout, output, {end: false, signal}),
      pipeline(child.stderr, output, {end: false, signal}),
    ]);
  } catch (error) {
    signal.throwIfAborted();
    if (!isSystemCallError(error)) throw error;
    output.write('\nerror: journal output not available\n');
  }
}

/** Copies the first of `service`, `service.log` and `service/service.log` (heuristicsCopyFileLogs). */
async function copyServiceFile(
  directory: string,
  service: string,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const path of [service, `${service}.log`, `${service}/${service}.log`])
      if (await copyFile(directory, path, output, signal)) return;
    output.write(`\nlog not found for ${service}\n`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KcriError) && !isSystemCallError(error)) throw error;
    output.write(`\nerror getting log for ${service}: ${messageOf(error)}\n`);
  }
}

/** Copies a regular file beneath the directory; resolves with false if it does not exist. */
async function copyFile(
  directory: string,
  path: string,
  output: Writable,
  signal: AbortSignal,
): Promise<boolean> {
  await using located = await openIfPresent(directory, path);
  if (located === undefined || !(await located.stat()).isFile()) return false;
  await using file = await open(fdPath(located), constants.O_RDONLY | constants.O_NONBLOCK);
  const {size} = await file.stat();
  if (size > 0)
    await pipeline(file.createReadStream({end: size - 1, autoClose: false}), output, {end: false, signal});
  return true;
}

async function openIfPresent(directory: string, path: string) {
  try {
    return await openBeneath(await realpath(directory), path);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Formats the problems of a query as the kubelet's response does. */
export function queryProblems(problems: readonly string[]): string {
  return `${formatAggregate(problems)}\n`;
}
