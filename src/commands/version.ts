import {BaseCommand} from '../cli/base-command.js';
import {versionText} from '../cli/views/version.js';
import {withContext} from '../operations/with-context.js';

export default class Version extends BaseCommand {
  static override summary = 'Show the versions of the runtime and of its CRI';

  async run(): Promise<void> {
    await this.parse(Version);
    const {runtime} = await this.cri();
    const response = runtime.version({version: 'v1'}, {signal: this.signal});
    this.print(versionText(await withContext('getting the runtime version', response)));
  }
}
