import * as Flags from '@oclif/core/flags';
import {HelpRequest} from './help-request.js';
import {SchemaCommand} from './schema-command.js';

/** What `create jsonschema` and `run jsonschema` share: both take a container config and a pod config. */
export abstract class ContainerSchemaCommand extends SchemaCommand {
  static override summary = 'Show the JSON schema of the config files';
  static override description =
    "Of the container config unless --pod asks for the pod's; with both flags one after the other.";
  static override flags = {
    pod: Flags.boolean({char: 'p', description: "Show the pod config's schema."}),
    container: Flags.boolean({char: 'c', description: "Show the container config's schema."}),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse({flags: ContainerSchemaCommand.flags});
    // crictl shows its help when it isn't told what to show.
    if (this.compat && !flags.pod && !flags.container) throw new HelpRequest(this.words);
    if (flags.pod) this.printSchema('PodSandboxConfig');
    if (flags.container || !flags.pod) this.printSchema('ContainerConfig');
  }
}
