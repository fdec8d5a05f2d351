import {programVersion} from '../../cli/process/program-version.js';
import {counted} from '../../base/counted.js';
import type {SystemError} from '../../base/errors.js';
import {maskSecretLine} from '../../cli/redaction/mask-secrets.js';
import type {CommandServices} from '../../cli/command/command-services.js';
import type {JsonObject} from '../../format/json.js';
import {recordingHeader} from '../../recording/lines/recording-header.js';
import {ByteBudget} from '../../recording/tap/byte-budget.js';
import {SessionRecorder} from '../../recording/sessions/session-recorder.js';
import type {TappedCall} from '../../recording/tap/connection-tap.js';
import {LineFile} from './line-file.js';
import {LineStream} from './line-stream.js';
import {preciseTime} from './precise-time.js';
import type {MaskOptions} from './mask-messages.js';
import type {CallReader} from './reader/call-reader.js';

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
  /** Reads the calls. */
  readonly reader: CallReader;
  /** Recorder of sessions; undefined if they are not recorded. */
  readonly sessions: SessionRecorder | undefined;
  /** Returns the number of a call that has not ended; undefined without sessions. */
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
  const {report} = services;
  const lines = await openLines(services, options, endpoint);
  const {reader, sessions, numberOf} = await openReader(services, options, lines);
  return {
    ...{reader, sessions, numberOf},
    close: async () => {
      try {
        await reader.end();
      } finally {
        await lines?.close();
      }
      if (lines !== undefined && lines.lostLines > 0)
        report.warn(`${counted(lines.lostLines, 'line')} could not be written in time and are missing`);
    },
    discard: async () => {
      await reader.end().catch(() => undefined); // the error that ends the recording is reported
      await lines?.discard();
    },
  };
}

type OpenedReader = Pick<RecordOutput, 'reader' | 'sessions' | 'numberOf'>;

/** Opens the reader: in a thread of its own, unless it replaces the URLs of sessions in what is relayed. */
async function openReader(
  {context, report}: Pick<CommandServices, 'context' | 'report'>,
  {mask, maxMessageBytes, streams}: RecordOutputOptions,
  lines: Lines | undefined,
): Promise<OpenedReader> {
  const clock = {now: preciseTime(context.clock), monotonic: () => performance.now()};
  const write = (line: Buffer): void => {
    lines?.write(line);
  };
  const makesLines = lines !== undefined;
  const source = streams ? undefined : (await import('./reader/thread-source.js')).readerThreadSource();
  if (source !== undefined) {
    const {ThreadReader} = await import('./reader/thread-reader.js');
    const reader = new ThreadReader({
      ...{source, clock, makesLines, maxMessageBytes, mask, write, budgetBytes: BUDGET_BYTES},
      onUnreadable: (message) => {
        report.warn(unreadableText(message));
      },
      onFailure: ({message}) => {
        report.warn(`${message}; calls are passed on, but not recorded any more`);
      },
    });
    return {reader, sessions: undefined, numberOf: () => undefined};
  }
  const {OwnThreadReader} = await import('./reader/own-thread-reader.js');
  const limits = {maxMessageBytes: makesLines ? maxMessageBytes : 0, budget: new ByteBudget(BUDGET_BYTES)};
  const reader = new OwnThreadReader({clock, limits, mask, write: makesLines ? write : undefined});
  const writeSession = (line: JsonObject): void => {
    write(Buffer.from(JSON.stringify(line)));
  };
  return {
    reader,
    sessions:
      streams && makesLines
        ? new SessionRecorder({...sessionOptions(mask), write: writeSession, clock, limits})
        : undefined,
    numberOf: (call) => reader.numberOf(call),
  };
}

/** Returns the text of a warning about a connection that cannot be read. */
export function unreadableText(reason: string): string {
  return `a connection is passed on, but not recorded: ${reason}`;
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
