import {BaseCommand} from '../cli/command/base-command.js';
import {
  formatMessage,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Metricdescs extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'List the descriptors of pod metrics';
  static override description =
    'Lists name, help text and label keys of each metric that "kcri metricsp" shows.';
  static override usage = 'metricdescs [FLAGS]';
  static override examples = [
    '<%= config.bin %> metricdescs',
    "<%= config.bin %> metricdescs | jq -r '.descriptors[].name'",
  ];
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(Metricdescs);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {runtime} = await this.cri();
    const listed = withContext(
      'list metric descriptors',
      runtime.listMetricDescriptors({}, {signal: this.signal}),
    );
    const {descriptors} = await withContext('get metric descriptors', listed);
    this.out.printData(await formatMessage(form, 'ListMetricDescriptorsResponse', {descriptors}));
  }
}
