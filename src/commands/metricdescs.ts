import {BaseCommand} from '../cli/base-command.js';
import {formOf, messageText, outputFlag, templateFlag} from '../cli/formats.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Metricdescs extends BaseCommand {
  static override summary = 'Show which metrics the runtime counts of pods';
  static override description = 'Their names, what they mean, and the keys of their labels.';
  static override usage = 'metricdescs [OPTIONS]';
  static override examples = [
    '<%= config.bin %> metricdescs',
    "<%= config.bin %> metricdescs | jq -r '.descriptors[].name'",
  ];
  static override flags = {output: outputFlag(FORMATS), template: templateFlag};

  async run(): Promise<void> {
    const {flags} = await this.parse(Metricdescs);
    const form = await formOf(flags, FORMATS, this);
    const {runtime} = await this.cri();
    const listed = withContext(
      'list metric descriptors',
      runtime.listMetricDescriptors({}, {signal: this.signal}),
    );
    const {descriptors} = await withContext('get metric descriptors', listed);
    this.print(await messageText(form, 'ListMetricDescriptorsResponse', {descriptors}));
  }
}
