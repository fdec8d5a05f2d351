import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {withChoices} from '../cli/flags/flag-types.js';
import {exitCodeOf} from '../cli/output/render-error.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {EXIT} from '../cli/process/exit-codes.js';
import {runReplay} from '../features/record/replay/run-replay.js';

const FORMATS = ['table', 'json', 'yaml'] as const;
const PACES = ['fast', 'original'] as const;

export default class Replay extends BaseCommand {
  static override summary = 'Make the calls of a recording on a runtime, and compare its answers';
  static override description =
    'Makes the calls of a file of "kcri record" in their order and concurrency, with IDs, UIDs, addresses, log ' +
    'directories and cgroups of their own, and prints each call that the runtime answers with another status or other ' +
    'fields. A read may take some seconds until it answers as recorded. Mounts of the recorded node are empty ' +
    'directories and files. Everything is removed at the end, also after Ctrl-C.\n\nThe containers run with the recorded ' +
    'commands and privileges: read a recording of others before you replay it.\n\nThe exit code is 0 if all answers are as ' +
    'recorded, 1 if some differ, and 2 if the recording, or a call that changes something, could not be replayed.';
  static override usage = 'replay FILE [FLAGS]';
  static override args = {
    file: Args.string({ignoreStdin: true, required: true, description: 'File of "kcri record".'}),
  };
  static override examples = [
    '<%= config.bin %> -r unix:///run/crio/crio.sock replay calls.jsonl',
    '<%= config.bin %> replay calls.jsonl -o json > difference.json',
  ];
  static override flags = {
    pace: withChoices(
      Flags.string({
        helpValue: 'PACE',
        description: 'Pauses between calls: none, or at least the recorded ones. [default: fast]',
      }),
      PACES,
    ),
    keep: Flags.boolean({description: 'Do not remove the pods, images and files of the replay.'}),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    try {
      const {args, flags} = await this.parse(Replay);
      const pace = PACES.find((each) => each === (flags.pace ?? 'fast'));
      if (pace === undefined)
        throw new UsageError(`invalid --pace "${flags.pace ?? ''}": must be one of ${PACES.join(', ')}`);
      const form = await parseOutputFormat(flags, FORMATS, this.services);
      const result = await runReplay(this.services, {file: args.file, pace, keep: flags.keep, form});
      if (result === 'differs') this.report.setExitCode(EXIT.failed);
      if (result === 'incomplete') this.report.setExitCode(EXIT.notReplayed);
    } catch (error) {
      if (exitCodeOf(error) === EXIT.failed) this.report.setExitCode(EXIT.notReplayed);
      throw error;
    }
  }
}
