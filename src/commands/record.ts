import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {findClosestMatch} from '../base/closest-match.js';
import {UsageError} from '../base/errors.js';
import {withUserFileHints} from '../base/fs/files.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {nonEmptyFlags} from '../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {RECORD_FLAGS, recordOptions} from '../features/record/record-flags.js';
import {runRecord} from '../features/record/run-record.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Record extends BaseCommand {
  static override summary = 'Record the calls between any CRI client and the runtime';
  static override description =
    'Listens on a socket, passes everything on to the runtime and back byte for byte, and writes each call as a line ' +
    'of JSON with its times, its request, and its response or error. With a program, it runs the program with this ' +
    'endpoint, and ends with it: CONTAINER_RUNTIME_ENDPOINT and IMAGE_SERVICE_ENDPOINT are set, {endpoint} in its ' +
    'arguments is replaced, and a kubelet gets --container-runtime-endpoint.\n\nCredentials, tokens of streaming URLs ' +
    'and values of variables whose name resembles a secret are masked, and of the output of ExecSync only the length is ' +
    'recorded. Other texts may contain secrets: read a recording before you give it to others. "kcri record ' +
    'diff" compares two recordings.\n\nWith --streams, the sessions of exec, attach and port-forward pass through the ' +
    "recorder, too: it answers with a URL of its own on 127.0.0.1 in place of the runtime's. What clients send may be a " +
    'typed password, and is recorded only with --keep-input; what they receive only with --keep-output.\n\n--swap replaces the ' +
    "runtime's socket, so that clients need no other endpoint, and puts it back at the end. Clients that are connected " +
    'already are recorded when they connect again. If kcri is killed, a guard process puts the socket back; if the guard ' +
    'is killed, too, the next "kcri record --swap" does, or "mv SOCKET.kcri-runtime SOCKET".';
  static override usage = 'record [FLAGS] [-- PROGRAM [ARG...]]';
  static override strict = false;
  static override flagsEndAfter = (words: readonly string[]): boolean => words.length > 0;
  static override args = {
    program: Args.string({
      ignoreStdin: true,
      multiple: true,
      description: 'Program to record, and its arguments.',
    }),
  };
  static override examples = [
    '<%= config.bin %> record --file=calls.jsonl -- crictl ps',
    '<%= config.bin %> record --swap --file=/var/tmp/calls.jsonl --max-size=20Mi',
    '<%= config.bin %> record --listen=/tmp/cri.sock --summary',
  ];
  static override flags = {
    ...nonEmptyFlags(RECORD_FLAGS),
    summary: Flags.boolean({
      description:
        'Count calls and errors and measure latencies per method: live on a terminal, one table at the end elsewhere. ' +
        'Calls are recorded only with --file.',
    }),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Record);
    const {summary} = flags;
    const program = argv as string[];
    this.#rejectMisspelling(program);
    if (!summary && (flags.output ?? flags.format ?? flags.template) !== undefined)
      throw new UsageError('--output formats a summary; calls are always recorded as JSON', {
        hint: 'add --summary',
      });
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const options = {...recordOptions(flags, program), isSummary: summary, program, form};
    await withUserFileHints(async () => {
      await runRecord(this.services, options);
    });
  }

  /** Throws UsageError for a word that resembles a subcommand, without `--` before it. */
  #rejectMisspelling([word = '']: readonly string[]): void {
    if (this.argv.includes('--') || findClosestMatch(word, ['diff']) === undefined) return;
    throw new UsageError(`unknown command "record ${word}"`, {
      hint: 'did you mean "kcri record diff"? A program comes after "--"',
    });
  }
}
