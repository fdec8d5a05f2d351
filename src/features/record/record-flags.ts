import * as Flags from '@oclif/core/flags';
import {messageOf, UsageError} from '../../base/errors.js';
import {integerFlag} from '../../cli/flags/flag-types.js';
import {parseBytes} from '../../format/parse-bytes.js';

/** Flags of `record`, other than those of its output format. */
export const RECORD_FLAGS = {
  listen: Flags.string({
    helpValue: 'SOCKET',
    description: 'Socket to listen on. [default: with a program, one in a temporary directory]',
  }),
  swap: Flags.boolean({description: "Listen in the place of the runtime's socket."}),
  file: Flags.string({
    helpValue: 'FILE',
    description:
      'New file to record to, or - for standard output. [default: standard output, if no program runs]',
  }),
  'max-size': Flags.string({
    helpValue: 'SIZE',
    description: 'Size after which --file is rotated, such as 20Mi. [default: 100Mi]',
  }),
  'max-files': integerFlag({
    helpValue: 'N',
    description: 'Number of files to keep: --file, and older ones with .1, .2 and so on. [default: 5]',
  }),
  'max-message': Flags.string({
    helpValue: 'SIZE',
    description: 'Record only the length of requests and responses that are larger. [default: 256Ki]',
  }),
  'mask-env': Flags.boolean({description: 'Mask the values of all environment variables of containers.'}),
  'keep-output': Flags.boolean({
    description: 'Record the output of commands of ExecSync and, with --streams, of sessions.',
  }),
  streams: Flags.boolean({
    description:
      'Record sessions of exec, attach and port-forward, too: their streams with times and lengths, results and sizes ' +
      'of terminals.',
  }),
  'keep-input': Flags.boolean({
    description: 'Record what clients send in sessions, such as typed passwords; requires --streams.',
  }),
};

/** Values of RECORD_FLAGS and of --summary. */
export interface RecordFlags {
  readonly listen?: string | undefined;
  readonly swap: boolean;
  readonly file?: string | undefined;
  readonly 'max-size'?: string | undefined;
  readonly 'max-files'?: number | undefined;
  readonly 'max-message'?: string | undefined;
  readonly 'mask-env': boolean;
  readonly 'keep-output': boolean;
  readonly 'keep-input': boolean;
  readonly streams: boolean;
  readonly 'no-headers': boolean;
  readonly summary: boolean;
}

/** Smallest size of a file: smaller ones would be rotated with every line. */
const MIN_FILE_BYTES = 4096;

/** Returns the options of a recording. Throws UsageError if flags contradict each other or have invalid values. */
export function recordOptions(given: RecordFlags, program: readonly string[]) {
  const flags = withStandardOutput(given);
  checkCombination(flags, program.length > 0);
  checkSessionFlags(flags);
  const {listen, swap, file, 'max-files': maxFiles = 5, 'max-size': maxSize = '100Mi'} = flags;
  if (maxFiles < 1) throw new UsageError('--max-files must be 1 or more');
  return {
    listen,
    swap,
    file,
    maxFiles,
    maxFileBytes: sizeOf('max-size', maxSize, MIN_FILE_BYTES),
    maxMessageBytes: sizeOf('max-message', flags['max-message'] ?? '256Ki', 1),
    hasHeaders: !flags['no-headers'],
    mask: {env: flags['mask-env'], keepOutput: flags['keep-output'], keepInput: flags['keep-input']},
    streams: flags.streams,
  };
}

/** Returns the flags without `--file=-`, which is the default. Throws UsageError with a summary, which is written there, too. */
function withStandardOutput(flags: RecordFlags): RecordFlags {
  if (flags.file !== '-') return flags;
  if (flags.summary)
    throw new UsageError('--file=- and --summary would both write to standard output', {hint: 'name a file'});
  return {...flags, file: undefined};
}

function checkCombination({listen, swap, file, summary, ...flags}: RecordFlags, hasProgram: boolean): void {
  if (swap && listen !== undefined) throw new UsageError('--swap and --listen exclude each other');
  if (!swap && listen === undefined && !hasProgram)
    throw new UsageError('one of --listen, --swap and a program is required');
  if (hasProgram && file === undefined && !summary)
    throw new UsageError('--file or --summary is required with a program, which needs standard output');
  if (file === undefined && (flags['max-size'] ?? flags['max-files']) !== undefined)
    throw new UsageError('--max-size and --max-files require --file');
}

function checkSessionFlags({streams, summary, file, 'keep-input': keepInput}: RecordFlags): void {
  if (keepInput && !streams) throw new UsageError('--keep-input requires --streams');
  if (streams && summary && file === undefined)
    throw new UsageError('--streams requires --file with --summary, which counts calls only');
}

function sizeOf(flag: string, text: string, least: number): number {
  let bytes: bigint;
  try {
    bytes = parseBytes(text);
  } catch (error) {
    throw new UsageError(`invalid --${flag} "${text}": ${messageOf(error)}`);
  }
  if (bytes < least || bytes > Number.MAX_SAFE_INTEGER)
    throw new UsageError(`invalid --${flag} "${text}": must be ${least} bytes or more`);
  return Number(bytes);
}
