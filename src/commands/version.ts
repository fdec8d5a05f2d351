import {BaseCommand} from '../cli/base-command.js';
import {versionText} from '../cli/views/version.js';
import {withContext} from '../operations/with-context.js';

export default class Version extends BaseCommand {
  static override summary = 'Show the versions of the runtime and of its CRI';
  static override description = 'The version of kcri itself is shown by "kcri --version".';
  static override usage = 'version [OPTIONS]';
  static override examples = [
    '<%= config.bin %> version',
    '<%= config.bin %> -r unix:///run/crio/crio.sock version',
  ];

  async run(): Promise<void> {
    await this.parse(Version);
    const {runtime} = await this.cri();
    const response = runtime.version({version: 'v1'}, {signal: this.signal});
    this.show(`${versionText(await withContext('getting the runtime version', response))}\n`);
  }
}
