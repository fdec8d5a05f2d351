import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG, kcriOnlyFlags, nonEmptyFlags} from '../cli/flags/flag-types.js';
import {outputFlags} from '../cli/output/parse-output-format.js';
import {POD_SELECTION_FLAGS} from '../features/pods/pod-selection-flags.js';
import {runTimeline, TIMELINE_FORMATS} from '../features/timeline/run-timeline.js';

export default class Timeline extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = "Show the phases of a pod's life and how long each took";
  static override description =
    'Shows when a pod was admitted, its volumes and sandbox were made, its images were pulled, and its containers were ' +
    'created, started and ready; restarts and the deletion, too: a waterfall below a summary, in which the slowest phases ' +
    'are first and compared with the median of the pods of this node. In a pipe it is 80 columns wide and has no colors; ' +
    'for scripts, "-o table" and "--no-headers" print a row for each phase.\n\n' +
    'Of pods that a running kubelet of kcri manages, phases are exact: that kubelet measured them, since its start, ' +
    'and pods that it has deleted are still found by their names and UIDs. Of others ' +
    'they follow from the times of the runtime, the status and the events, and what is only inferred is marked.\n\n' +
    'Instead of pods, a recording of "kcri record" can be given: a path that begins with "/", "./" or "../", or ends with ' +
    '".jsonl". Without names, all pods are shown that match the flags.';
  static override usage = 'timeline [POD...|FILE] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> timeline web',
    '<%= config.bin %> timeline web -o json',
    '<%= config.bin %> timeline ./calls.jsonl --html calls.html',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    ...nonEmptyFlags({
      trace: Flags.string({
        helpValue: 'FILE',
        description:
          'Also write the phases to this file for Perfetto or chrome://tracing; "-" writes them to standard output instead.',
      }),
      svg: Flags.string({
        helpValue: 'FILE',
        description: 'Also write an SVG picture to this file; "-" writes it to standard output instead.',
      }),
      html: Flags.string({
        helpValue: 'FILE',
        description:
          'Also write a page to this file, in which phases can be zoomed; it needs no other files. "-" writes it to standard ' +
          'output instead.',
      }),
    }),
    ...FROM_FLAG,
    ...kcriOnlyFlags({
      'no-headers': Flags.boolean({description: 'Omit the column headers; implies -o table.'}),
    }),
    ...outputFlags(TIMELINE_FORMATS, 'a waterfall'),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(Timeline);
    await runTimeline(this.services, argv as string[], flags);
  }
}
