import * as Args from '@oclif/core/args';
import {BaseCommand} from '../../cli/command/base-command.js';
import {exitCodeOf} from '../../cli/output/render-error.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {diffRecordings} from '../../features/record/diff-recordings.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class RecordDiff extends BaseCommand {
  static override summary = 'Compare the calls of two recordings';
  static override description =
    'Compares the calls that change something, pod by pod, whatever else the runs did. IDs, UIDs, times, addresses of ' +
    'pods, and the directories of a kubelet are replaced by labels, calls that a kubelet makes in random order are ' +
    'sorted, and commands that a container was given several times, such as probes, count once.\n\nThe exit code is 0 ' +
    'if the calls are equal, 1 if they differ, and 2 if they cannot be compared.';
  static override usage = 'record diff A B [FLAGS]';
  static override args = {
    a: Args.string({ignoreStdin: true, required: true, description: 'File of "kcri record".'}),
    b: Args.string({ignoreStdin: true, required: true, description: 'File to compare it with.'}),
  };
  static override examples = ['<%= config.bin %> record diff kubelet-1.35.jsonl kubelet-1.36.jsonl'];
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    try {
      const {args, flags} = await this.parse(RecordDiff);
      const form = await parseOutputFormat(flags, FORMATS, this.services);
      const differs = await diffRecordings(this.services, [args.a, args.b], form);
      if (differs) this.report.setExitCode(EXIT.failed);
    } catch (error) {
      if (exitCodeOf(error) === EXIT.failed) this.report.setExitCode(EXIT.notCompared);
      throw error;
    }
  }
}
