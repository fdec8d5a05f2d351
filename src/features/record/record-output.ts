import {programVersion} from '../../cli/process/program-version.js';
import {counted} from '../../base/counted.js';
import type {SystemError} from '../../base/errors.js';
import {maskSecretLine} from '../../cli/redaction/mask-secrets.js';
import type {CommandServices} from '../../cli/command/command-services.js';
import type {JsonObject} from '../../format/json.js';
import {CallRecorder} from '../../recording/lines/call-recorder.js';
import {CallSummary} from '../../recording/lines/call-summary.js';
import {recordingHeader} from '../../recording/lines/recording-header.js';
import {ByteBudget} from '../../recording/tap/byte-budget.js';
import {SessionRecorder} from '../../recording/sessions/session-recorder.js';
import type {CallSink, TappedCall} from '../../recording/tap/connection-tap.js';
import {IdleQueue} from '../../recording/tap/idle-queue.js';
import type {CollectorLimits} from '../../recording/tap/message-collector.js';
import {LineFile} from './line-file.js';
import {LineStream} from './line-stream.js';
import {preciseTime} from './precise-time.js';
import {createMessageMask, type MaskOptions} from './mask-messages.js';

/** Options of what is recorded, and where. */
export interface RecordOutputOptions {
  /** File of the lines; undefined for standard output. */
  readonly file: string | undefined;
  /** True to write no lines, unless to a file. */
  readonly isSummary: boolean;
  /** Maximum length of a recorded message, in bytes. */
  readonly maxMessageBytes: number;
  /** Size after which the file is rotated, in bytes, and number of files that are kept. */
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly mask: MaskOptions;
  /** True to record the sessions of exec, attach and port-forward. */
  readonly streams: boolean;
}

/** Files or stream that calls are recorded to, and their counts. */
export interface RecordOutput {
  readonly sink: CallSink;
  readonly limits: CollectorLimits;
  readonly summary: CallSummary;
  /** Reads what was relayed, and makes lines of it. */
  readonly queue: IdleQueue;
  /** Recorder of sessions; undefined if they are not recorded. */
  readonly sessions: SessionRecorder | undefined;
  /** Returns the number of a call that has not ended; undefined without lines. */
  readonly numberOf: (call: TappedCall) => number | undefined;
  /** Writes everything. Rejects with SystemError. */
  close(): Promise<void>;
  /** Ends a recording that has failed: removes a file to which nothing was recorded. Never rejects. */
  discard(): Promise<void>;
}

/** Maximum length of all messages that are held in memory, in bytes. */
const BUDGET_BYTES = 64 * 1024 * 1024;

interface Lines {
  write(line: Buffer): void;
  readonly lostLines: number;
  close(): Promise<void>;
  discard(): Promise<void>;
}

/** Opens the output of a recording of `endpoint`. Rejects with SystemError. */
export async function openOutput(
  services: Pick<CommandServices, 'context' | 'out' | 'report'>,
  options: RecordOutputOptions,
  endpoint: string,
): Promise<RecordOutput> {
  const {context, report} = services;
  const summary = new CallSummary();
  const clock = {now: preciseTime(context.clock), monotonic: () => performance.now()};
  const lines = await openLines(services, options, endpoint);
  const maxMessageBytes = lines === undefined ? 0 : options.maxMessageBytes;
  const limits = {maxMessageBytes, budget: new ByteBudget(BUDGET_BYTES)};
  const queue = new IdleQueue(clock);
  const shared = {limits, summary, queue};
  if (lines === undefined)
    return {
      ...shared,
      sink: summary,
      sessions: undefined,
      numberOf: () => undefined,
      close: async () => {
        queue.finish();
      },
      discard: async () => undefined,
    };
  const recorder = new CallRecorder({
    ...{limits, mask: createMessageMask(options.mask), queue},
    write: (line) => {
      lines.write(line);
    },
  });
  const write = (line: JsonObject): void => {
    lines.write(Buffer.from(JSON.stringify(line)));
  };
  return {
    ...shared,
    sink: both(summary, recorder),
    sessions: options.streams
      ? new SessionRecorder({...sessionOptions(options.mask), write, clock, limits})
      : undefined,
    numberOf: (call) => recorder.numberOf(call),
    close: async () => {
      recorder.finish();
      await lines.close();
      if (lines.lostLines > 0)
        report.warn(`${counted(lines.lostLines, 'line')} could not be written in time and are missing`);
    },
    discard: async () => {
      recorder.finish();
      await lines.discard();
    },
  };
}

function sessionOptions({keepInput, keepOutput}: MaskOptions) {
  return {keeps: {client: keepInput, server: keepOutput}, maskLine: maskSecretLine};
}

async function openLines(
  {out, report}: Pick<CommandServices, 'out' | 'report'>,
  {file, isSummary, maxFileBytes, maxFiles, mask}: RecordOutputOptions,
  endpoint: string,
): Promise<Lines | undefined> {
  if (file === undefined && isSummary) return undefined;
  const header = (): string =>
    JSON.stringify(recordingHeader({program: `kcri ${programVersion()}`, endpoint, masksEnv: mask.env}));
  const formatLost = (lost: number): string => JSON.stringify({lost} satisfies JsonObject);
  if (file === undefined) return new LineStream(out.stdout, {header, formatLost});
  const onFailure = ({message, hint}: SystemError): void => {
    const advice = hint === undefined ? '' : `: ${hint}, and record again`;
    report.warn(`${message}; calls are passed on, but not recorded any more${advice}`);
  };
  return await LineFile.create({
    ...{path: file, maxBytes: maxFileBytes, maxFiles},
    ...{header, formatLost, onFailure},
  });
}

function both(first: CallSink, second: CallSink): CallSink {
  return {
    onStart: (call) => {
      first.onStart(call);
      second.onStart(call);
    },
    onMessage: (call, from, message) => {
      first.onMessage(call, from, message);
      second.onMessage(call, from, message);
    },
    onEnd: (call, end) => {
      first.onEnd(call, end);
      second.onEnd(call, end);
    },
  };
}
