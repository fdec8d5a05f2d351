import {messageJsonSchema} from '../cri/index.js';
import {jsonText} from '../format/json.js';
import {BaseCommand} from './base-command.js';

/** The messages that config files hold. */
type Config = 'PodSandboxConfig' | 'ContainerConfig';

/** What the `jsonschema` commands share. */
export abstract class SchemaCommand extends BaseCommand {
  /** Prints the schema of a config file's message; as crictl only with the fields that it knows. */
  protected printSchema(name: Config): void {
    this.print(jsonText(messageJsonSchema(name, {crictl: this.compat})));
  }
}
