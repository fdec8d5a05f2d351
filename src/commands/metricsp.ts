import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {integerFlag} from '../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../cli/output/parse-output-format.js';
import {showObjects} from '../features/stats/watch.js';
import {listAllPodMetrics} from '../cri/list-all.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Metricsp extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'List pod metrics';
  static override description =
    'For the names and labels of the samples, use "kcri metricdescs". With --watch, each list is one ' +
    'line of JSON.';
  static override usage = 'metricsp [FLAGS]';
  static override examples = [
    '<%= config.bin %> metricsp',
    "<%= config.bin %> metricsp | jq '.podMetrics[].podSandboxId'",
    '<%= config.bin %> metricsp --watch --seconds=10',
  ];
  static override flags = {
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
    seconds: integerFlag({
      char: 's',
      default: 1,
      helpValue: 'N',
      description: 'Interval of --watch, in seconds. [default: 1]',
    }),
    watch: Flags.boolean({char: 'w', description: 'Refresh until interrupted.'}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Metricsp);
    if (flags.seconds < 1) throw new UsageError('--seconds must be 1 or more');
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {runtime} = await this.cri();
    const list = async () =>
      await withContext('list pod sandbox metrics', listAllPodMetrics(runtime, this.signal));
    const shown = showObjects(this.services, form, 'ListPodSandboxMetricsResponse', {
      watch: flags.watch,
      pauseMs: flags.seconds * 1000,
      sample: async () => ({message: {podMetrics: await list()}, warnings: []}),
    });
    await withContext('get pod metrics', shown);
  }
}
