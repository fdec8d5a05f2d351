import {BaseCommand} from '../cli/command/base-command.js';
import {
  formatMessage,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class RuntimeConfig extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = "Show the runtime's cgroup driver";
  static override description =
    'Shows the runtime configuration that a kubelet must use as well: the cgroup driver, CGROUPFS or ' +
    'SYSTEMD.';
  static override usage = 'runtime-config [FLAGS]';
  static override examples = ['<%= config.bin %> runtime-config', '<%= config.bin %> runtime-config -o json'];
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeConfig);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {runtime} = await this.cri();
    const config = withContext('call RuntimeConfig RPC', runtime.runtimeConfig({}, {signal: this.signal}));
    const response = await withContext('get runtime config', config);
    if (form.kind !== 'table') {
      this.out.printData(await formatMessage(form, 'RuntimeConfigResponse', response));
      return;
    }
    if (response.linux !== undefined) this.out.print(`cgroup driver:   ${response.linux.cgroupDriver}`);
  }
}
