import {BaseCommand} from '../cli/base-command.js';
import {formOf, messageText, outputFlag, templateFlag} from '../cli/formats.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class RuntimeConfig extends BaseCommand {
  static override summary = "Show the runtime's configuration that a kubelet must agree with";
  static override description = 'That is the driver of cgroups, so far: "CGROUPFS" or "SYSTEMD".';
  static override usage = 'runtime-config [OPTIONS]';
  static override examples = ['<%= config.bin %> runtime-config', '<%= config.bin %> runtime-config -o json'];
  static override flags = {output: outputFlag(FORMATS), template: templateFlag};

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeConfig);
    const form = await formOf(flags, FORMATS, this);
    const {runtime} = await this.cri();
    const config = withContext('call RuntimeConfig RPC', runtime.runtimeConfig({}, {signal: this.signal}));
    const response = await withContext('get runtime config', config);
    if (form.kind !== 'table') {
      this.print(await messageText(form, 'RuntimeConfigResponse', response));
      return;
    }
    if (response.linux !== undefined) this.print(`cgroup driver:   ${response.linux.cgroupDriver}`);
  }
}
