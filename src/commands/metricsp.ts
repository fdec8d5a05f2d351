import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {integerFlag} from '../cli/flags.js';
import {formOf, outputFlag, templateFlag} from '../cli/formats.js';
import {WatchCommand} from '../cli/watch-command.js';
import {listAllPodMetrics} from '../cri/list-all.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Metricsp extends WatchCommand {
  static override summary = 'Show the metrics of pods as the runtime counts them';
  static override description =
    'The samples of which "metricdescs" tells the names and labels. With --watch each list is one line of JSON.';
  static override usage = 'metricsp [OPTIONS]';
  static override examples = [
    '<%= config.bin %> metricsp',
    "<%= config.bin %> metricsp | jq '.podMetrics[].podSandboxId'",
    '<%= config.bin %> metricsp --watch --seconds 10',
  ];
  static override flags = {
    output: outputFlag(FORMATS),
    template: templateFlag,
    seconds: integerFlag({
      char: 's',
      default: 1,
      helpValue: 'N',
      description: 'Seconds between two lists with --watch.',
    }),
    watch: Flags.boolean({char: 'w', description: 'List again and again, until Ctrl-C.'}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Metricsp);
    if (flags.seconds < 1) throw new UsageError('--seconds should be 1 or more');
    const form = await formOf(flags, FORMATS, this);
    const {runtime} = await this.cri();
    const list = async () =>
      await withContext('list pod sandbox metrics', listAllPodMetrics(runtime, this.signal));
    await withContext(
      'get pod metrics',
      this.showObjects(form, 'ListPodSandboxMetricsResponse', {
        watch: flags.watch,
        pauseMs: flags.seconds * 1000,
        sample: async () => ({message: {podMetrics: await list()}, warnings: []}),
      }),
    );
  }
}
