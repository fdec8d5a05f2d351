import {once} from 'node:events';
import {anySignal} from '../../base/async/any-signal.js';
import {counted} from '../../base/counted.js';
import {messageOf, UsageError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import type {CommandServices} from '../../cli/command/command-services.js';
import type {OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted} from '../../cli/output/parse-output-format.js';
import {canRedraw, repeatSample, TerminalScreen} from '../../cli/output/watch-screen.js';
import {interruptOnHangUp} from '../../cli/process/interrupt.js';
import {connectedEndpoint, socketPath} from '../../cri/endpoint.js';
import type {SessionRelay} from '../../recording/sessions/session-relay.js';
import type {TapOptions} from '../../recording/tap/connection-tap.js';
import {methodOf} from '../../recording/tap/method-table.js';
import {Relay} from '../../recording/tap/relay.js';
import {openOutput, unreadableText, type RecordOutput, type RecordOutputOptions} from './record-output.js';
import {ownPlace, swapPlace, type RecordPlace} from './record-place.js';
import {runWithEndpoint} from './run-program.js';
import {formatSummary, summaryJson} from './summary-table.js';

/** Options of `record`. */
export interface RecordOptions extends RecordOutputOptions {
  /** Socket to listen on; undefined for one in a temporary directory. */
  readonly listen: string | undefined;
  /** True to listen in the place of the runtime's socket. */
  readonly swap: boolean;
  /** Program to run and its arguments; empty to record until an interruption. */
  readonly program: readonly string[];
  /** Format of the summary. */
  readonly form: OutputFormat<'table' | 'json' | 'yaml'>;
  /** True to print the headers of the summary's columns. */
  readonly hasHeaders: boolean;
}

/** Interval of the live summary, in ms. */
const LIVE_MS = 1000;

/** Records the calls between clients and the runtime until an interruption, or until the program ends. */
export async function runRecord(services: CommandServices, options: RecordOptions): Promise<void> {
  const {report, connections, context} = services;
  // A terminal that is closed must not lose what is recorded.
  using _hangUp = context.ownsProcess === true ? interruptOnHangUp() : undefined;
  const runtime = await connectedEndpoint(await connections.endpoint());
  await rejectImageEndpoint(services, runtime);
  const path = socketPath(runtime);
  await using place = options.swap ? await swapPlace(services, path) : await ownPlace(path, options.listen);
  const output = await openOutput(services, options, runtime);
  let failure: unknown;
  try {
    const sessions = await openSessions(services, output);
    try {
      failure = await recordAt(services, place, {output, sessions, options});
    } finally {
      sessions?.close();
    }
  } catch (error) {
    await output.discard();
    throw error;
  }
  await output.close();
  await reportEnd(services, output, options);
  if (failure !== undefined) report.fail(failure);
  if (options.file === undefined) return;
  const {sessions, reader} = output;
  const also = sessions === undefined ? '' : ` and ${counted(sessions.sessions, 'session')}`;
  const calls = (await reader.summarize()).reduce((sum, method) => sum + method.calls, 0);
  report.info(`kcri: recorded ${counted(calls, 'call')}${also} to "${options.file}"`);
}

/** Records until the end. Resolves with the error that ended it, if what is recorded is complete until then. */
async function recordAt(
  services: CommandServices,
  place: RecordPlace,
  {output, sessions, options}: RelayParts & Pick<Recording, 'options'>,
): Promise<unknown> {
  const relay = await openRelay(services, place, {output, sessions});
  try {
    try {
      await place.install();
      return await recordUntilEnd(services, {place, output, options});
    } finally {
      // Whatever has failed: the relay's end removes the socket by which a swapped one is recognized.
      await place.uninstall(relay);
    }
  } finally {
    try {
      // Before connections are closed: calls that this cuts off are open ones, not failed ones.
      await output.reader.end();
    } finally {
      relay.close();
    }
  }
}

/** One connection of a client leads to one socket. Rejects with UsageError. */
async function rejectImageEndpoint({settings}: CommandServices, runtime: string): Promise<void> {
  const {imageEndpoint} = await settings.read();
  if (imageEndpoint !== undefined && (await connectedEndpoint(imageEndpoint)) !== runtime)
    throw new UsageError('cannot record a runtime endpoint and another image endpoint together', {
      hint: 'record each with its own "kcri record --runtime-endpoint=ENDPOINT --image-endpoint=ENDPOINT"',
    });
}

/** Listens for the sessions of exec, attach and port-forward, if they are to be recorded. */
async function openSessions(
  {context: {clock}}: CommandServices,
  {sessions: recorder}: RecordOutput,
): Promise<SessionRelay | undefined> {
  if (recorder === undefined) return undefined;
  const {SessionRelay} = await import('../../recording/sessions/session-relay.js');
  return await SessionRelay.listen({recorder, clock});
}

interface RelayParts {
  readonly output: RecordOutput;
  readonly sessions: SessionRelay | undefined;
}

async function openRelay(
  {report, context}: CommandServices,
  {listenPath, targetPath}: RecordPlace,
  parts: RelayParts,
): Promise<Relay> {
  const {reader} = parts.output;
  const urlOf = urlReplacements(parts);
  return await Relay.listen(listenPath, {
    target: targetPath,
    clock: context.clock,
    queue: reader.queue,
    tap: (connection) => reader.open(connection, urlOf),
    onUnreachable: (error) => {
      report.warn(
        `cannot connect to the runtime: ${systemErrorMessage(error)}; connections of clients are closed`,
      );
    },
    onReachable: () => {
      report.info('kcri: connected to the runtime again');
    },
    onUnreadable: (error) => {
      report.warn(unreadableText(messageOf(error)));
    },
  });
}

/** Returns what is done with the URLs of sessions; undefined if they are not recorded. */
function urlReplacements({output, sessions}: RelayParts): TapOptions['urlOf'] {
  const {sessions: recorder, numberOf} = output;
  if (sessions === undefined || recorder === undefined) return undefined;
  return (call) => {
    const session = () => ({call: numberOf(call), method: methodOf(call.path).name});
    return {
      replace: (url) => sessions.offer(session(), url),
      onOmitted: (reason) => {
        recorder.skip(session(), reason);
      },
    };
  };
}

interface Recording {
  readonly place: RecordPlace;
  readonly output: RecordOutput;
  readonly options: RecordOptions;
}

async function recordUntilEnd(services: CommandServices, recording: Recording): Promise<unknown> {
  const {context, out, report, signal: interrupted} = services;
  const {place, options} = recording;
  const ended = new AbortController();
  using either = anySignal(interrupted, ended.signal, ...(writesLines(options) ? [out.stdout.closed] : []));
  let failure: unknown;
  const watching = place.watch(either.signal).catch((error: unknown) => {
    failure = error;
    // The program goes on, maybe for hours.
    if (options.program.length > 0)
      report.warn(`${messageOf(error)}; "${options.program[0] ?? ''}" goes on, but is not recorded`);
    ended.abort();
  });
  try {
    if (options.program.length > 0) {
      const hasTerminal = context.stdin.isTTY === true;
      const {env} = context;
      const run = {endpoint: place.endpoint, env, signal: interrupted, hasTerminal};
      report.setExitCode(await runWithEndpoint(options.program, run));
    } else await showUntil(either.signal, services, recording);
  } finally {
    ended.abort();
    await watching;
  }
  return failure;
}

/** Reports whether lines are written to standard output. */
function writesLines({file, isSummary}: RecordOptions): boolean {
  return file === undefined && !isSummary;
}

/** Shows the counts on a terminal until the signal aborts; elsewhere it only waits. */
async function showUntil(
  signal: AbortSignal,
  {context, out, report}: CommandServices,
  {place, output: {reader}, options}: Recording,
): Promise<void> {
  report.info(`kcri: recording calls to ${place.endpoint}; Ctrl-C ends it`);
  if (!isLive(options, out, context)) {
    if (!signal.aborted) await once(signal, 'abort');
    return;
  }
  const screen = new TerminalScreen(out.stdout, context);
  const warnings: string[] = [];
  report.redirectWarnings((text) => {
    if (warnings.push(text) > MAX_WARNINGS) warnings.shift();
  });
  const sample = async () => formatSummary(await reader.summarize(), options);
  try {
    for await (const text of repeatSample(sample, {clock: context.clock, pauseMs: LIVE_MS, signal})) {
      screen.show({text, warnings});
      await out.stdout.ready(signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    screen.clear();
    report.redirectWarnings(undefined);
    for (const text of warnings) report.warn(text);
  }
}

/** Number of warnings that are shown below the live summary. */
const MAX_WARNINGS = 3;

function isLive(
  {isSummary, form, program}: RecordOptions,
  out: CommandServices['out'],
  context: CommandServices['context'],
): boolean {
  return isSummary && form.kind === 'table' && program.length === 0 && canRedraw(out, context);
}

/** Prints the summary as a whole: a live one is cut to the size of the terminal. */
async function reportEnd(
  {out}: CommandServices,
  {reader}: RecordOutput,
  options: RecordOptions,
): Promise<void> {
  const {form, isSummary} = options;
  if (!isSummary) return;
  const methods = await reader.summarize();
  if (form.kind === 'table') out.printText(formatSummary(methods, options));
  else out.printData(await formatSorted(form, summaryJson(methods)));
}
