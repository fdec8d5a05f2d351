import {BaseCommand} from '../cli/command/base-command.js';
import {versionText} from '../cli/output/views/version-text.js';
import {withContext} from '../operations/with-context.js';

export default class Version extends BaseCommand {
  static override summary = 'Show the versions of the runtime and its CRI API';
  static override description = 'For the version of kcri itself, use "kcri --version".';
  static override usage = 'version [FLAGS]';
  static override examples = [
    '<%= config.bin %> version',
    '<%= config.bin %> -r unix:///run/crio/crio.sock version',
  ];

  async run(): Promise<void> {
    await this.parse(Version);
    const {runtime} = await this.cri();
    const response = runtime.version({version: 'v1'}, {signal: this.signal});
    this.out.printText(`${versionText(await withContext('getting the runtime version', response))}\n`);
  }
}
